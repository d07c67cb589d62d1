export const de = { code: "de", direction: "ltr", strings: {}, words: { other: [], skip: [], cancel: [] } } as const;
