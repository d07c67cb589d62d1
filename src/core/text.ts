/**
 * Agent text becomes spans once; adapters only escape.
 */

/** A run of text in one style. `own` marks Askgate's words; everything else is somebody else's and never interpreted. */
export interface Span {
  readonly text: string;
  readonly style: "plain" | "bold" | "italic" | "code";
}
