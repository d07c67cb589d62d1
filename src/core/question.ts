/**
 * The question: what an agent asks, as the engine keeps it.
 */

export interface Option {
  readonly label: string;
  readonly description: string | null;
}

/** A question after normalisation at the door; every default is filled in. */
export interface Question {
  /** `^[a-z][a-z0-9_]*$`, at most 64 characters, unique in the call. */
  readonly id: string;
  readonly header: string;
  readonly question: string;
  /** 2 to 4, or none when free text alone is asked for. */
  readonly options: readonly Option[];
  readonly multiSelect: boolean;
  /** False closes the list: no free text. */
  readonly allowOther: boolean;
  /** Asked on the web page only, without echo. */
  readonly sensitive: boolean;
}
