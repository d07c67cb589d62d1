export const es = { code: "es", direction: "ltr", strings: {}, words: { other: [], skip: [], cancel: [] } } as const;
