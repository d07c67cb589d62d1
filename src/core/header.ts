/** The header: a chip of a few characters, cut where a reader would cut it. */

/** Graphemes as the eye counts, code points as platforms count. */
export const HEADER = { graphemes: 12, codePoints: 48 } as const;

const GRAPHEMES = new Intl.Segmenter("en", { granularity: "grapheme" });

/** Trimmed and cut to both limits, never inside a grapheme; empty when the first one alone is too long. */
export function cutHeader(header: string): string {
  let cut = "";
  let graphemes = 0;
  let codePoints = 0;
  for (const { segment } of GRAPHEMES.segment(header.trim())) {
    graphemes += 1;
    codePoints += [...segment].length;
    if (graphemes > HEADER.graphemes || codePoints > HEADER.codePoints) break;
    cut += segment;
  }
  return cut.trimEnd();
}
