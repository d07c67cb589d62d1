export const en = { code: "en", direction: "ltr", strings: {}, words: { other: [], skip: [], cancel: [] } } as const;
