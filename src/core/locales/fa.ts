export const fa = { code: "fa", direction: "ltr", strings: {}, words: { other: [], skip: [], cancel: [] } } as const;
