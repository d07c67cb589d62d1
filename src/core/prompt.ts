/**
 * The prompt: what one copy of an inquiry shows now, free of any channel.
 *
 * It is a function of the inquiry and the place alone, never of the present moment: rendered twice it is the same, so
 * that an unchanged copy is never sent again. It is complete in words; native controls are an addition. Text of the
 * agent or of a person stands behind bars or in our sentences' isolated gaps, never as a line of its own. An answer
 * to a sensitive question is never shown, and words typed in one chat are shown in that chat alone.
 */
import type { Act } from "./control.ts";
import { howToAnswer } from "./howto.ts";
import { isSettled, type Resolution, unanswered } from "./inquiry.ts";
import { deadlineText, listed, placeName, type StringKey, say } from "./locales/locale.ts";
import type { Option, Question } from "./question.ts";
import { withoutMark } from "./reply/fold.ts";
import { isolate, oneLine, quoteLines, RIGHT_TO_LEFT_MARK, type Span, spansOf } from "./text.ts";
import { type Block, block, type PromptView, plain, shownMark } from "./view.ts";

export type { PromptPlace, PromptView } from "./view.ts";

/** A native control the prompt could have. */
export interface Choice {
  readonly label: string;
  /** Shown before the label, as in the body: "1", "A"; empty for what is no option. */
  readonly mark: string;
  readonly question: number;
  readonly act: Act;
}

export interface Prompt {
  readonly open: boolean;
  readonly blocks: readonly Block[];
  /** Empty when the form is text only, or the inquiry is over. */
  readonly choices: readonly Choice[];
  /** Free text is asked for now: shown as force reply, modal or input where there is one. */
  readonly entry: { readonly placeholder: string; readonly text: string; readonly person: string } | null;
}

export function present(view: PromptView): Prompt {
  const settled = isSettled(view.inquiry);
  const questions = view.inquiry.questions.flatMap((question, index) => questionBlocks(view, question, index));
  const heading = view.inquiry.questions.length > 1 ? [block([bold(severalTitle(view))])] : [];
  const choices = settled ? [] : choicesOf(view);
  const ending = settled ? overBlocks(view) : [...howToAnswer(view, choices.length > 0), audienceAndDeadline(view)];
  return {
    open: !settled,
    blocks: [...heading, ...questions, ...ending],
    choices,
    entry: settled ? null : entryOf(view),
  };
}

function bold(text: string): Span {
  return { text, style: "bold" };
}

function severalTitle({ inquiry, promptFor, locale }: PromptView): string {
  const count = inquiry.questions.length;
  const id = promptFor.shortId;
  return id === null ? say(locale, "title.several", { count }) : say(locale, "title.several_id", { count, id });
}

function titleOf(view: PromptView, question: Question, index: number): string {
  const { inquiry, promptFor, locale } = view;
  const word = inquiry.kind === "approval" ? "approval" : "question";
  const id = promptFor.shortId;
  const header = ` · ${isolate(oneLine(question.header), locale.direction)}`;
  if (inquiry.questions.length > 1) return say(locale, "title.part", { number: index + 1 }) + header;
  return (id === null ? say(locale, `title.${word}`) : say(locale, `title.${word}_id`, { id })) + header;
}

function questionBlocks(view: PromptView, question: Question, index: number): readonly Block[] {
  const { inquiry, locale } = view;
  const asked = spansOf(quoteLines(question.question, locale.direction));
  const head = block([bold(titleOf(view, question, index)), plain("\n"), ...asked]);
  const resolution = inquiry.resolutions.get(question.id);
  if (resolution) return [head, block(resultSpans(view, question, resolution))];
  if (!isSettled(inquiry)) return [head, ...optionBlocks(view, question)];
  return inquiry.questions.length > 1 ? [head, block([plain(say(locale, "done.open"))])] : [head];
}

/** The label without its mark; with several marks in one list they say nothing and are shown as written. */
function labelOf(question: Question, label: string): string {
  const marked = question.options.filter((option) => withoutMark(option.label) !== option.label);
  return oneLine(marked.length === 1 ? withoutMark(label) : label);
}

function optionBlocks({ locale }: PromptView, question: Question): readonly Block[] {
  const line = (option: Option, index: number): Span[] => {
    const label = labelOf(question, option.label);
    const recommended = label === oneLine(option.label) ? "" : ` · ${say(locale, "recommended")}`;
    const start = locale.direction === "rtl" ? RIGHT_TO_LEFT_MARK : "";
    return [
      plain(`${start}${shownMark(locale, question, index)}. `),
      bold(isolate(label, locale.direction)),
      plain(recommended),
      ...(option.description === null
        ? []
        : [plain("\n"), ...spansOf(quoteLines(option.description, locale.direction, "   "))]),
    ];
  };
  return question.options.map((option, index) => block(line(option, index), index > 0 ? { tight: true } : {}));
}

/** What was answered, by whom, where. */
function resultSpans(view: PromptView, question: Question, resolution: Resolution): readonly Span[] {
  const { locale } = view;
  const { by, values } = resolution;
  const said = (key: Extract<StringKey, `done.${string}`>) => {
    return plain(say(locale, key, { person: by?.person ?? "", where: placeName(locale, by?.channel ?? "") }));
  };
  if (resolution.outcome === "skipped") return [said("done.skipped")];
  const kind = resolution.outcome === "answered" ? "done.answered" : "done.default";
  if (!mayShow(view, question, resolution)) return [said(`${kind}_hidden`)];
  if (values.length === 0) return [said("done.none")];
  const [first] = values;
  if (values.length === 1 && first && first.kind !== "text") {
    return [said(kind), plain(" "), bold(isolate(labelOf(question, first.label), locale.direction))];
  }
  const lines = values.map((value) => (value.kind === "text" ? value.text : labelOf(question, value.label)));
  return [said(kind), plain(`\n${lines.map((line) => quoteLines(line, locale.direction)).join("\n")}`)];
}

/** Words typed in a chat stay there and on their author's own page; a sensitive answer is shown nowhere. */
function mayShow({ promptFor }: PromptView, question: Question, { by, values }: Resolution): boolean {
  if (question.sensitive) return false;
  if (!values.some((value) => value.kind === "text")) return true;
  return by !== null && (by.address === promptFor.address || by.person === promptFor.ownViewOf);
}

/** Why it is over, where the answers themselves do not say it. */
function overBlocks({ inquiry, locale }: PromptView): readonly Block[] {
  const by = inquiry.settledBy;
  if (inquiry.reason === "declined" && by) {
    return [
      block([plain(say(locale, "over.declined_by", { person: by.person, where: placeName(locale, by.channel) }))]),
    ];
  }
  const why = inquiry.status === "cancelled" ? inquiry.reason : inquiry.status;
  switch (why) {
    case "declined":
    case "aborted":
    case "superseded":
    case "operator":
    case "timed_out":
    case "undelivered":
      return [block([plain(say(locale, `over.${why}`))])];
    default:
      return [];
  }
}

function audienceAndDeadline({ inquiry, promptFor, locale }: PromptView): Block {
  const names = listed(locale, promptFor.groupAudience);
  const audience = names === "" ? "" : `${say(locale, "audience", { names })}\n`;
  return block([plain(audience + deadlineText(locale, inquiry.timeoutSeconds, inquiry.expiresAt))]);
}

/** Native controls exist for exactly one open question that takes one answer. */
function choicesOf({ inquiry, promptFor, locale }: PromptView): readonly Choice[] {
  const [question, ...others] = unanswered(inquiry);
  if (!question || others.length > 0 || question.multiSelect) return [];
  const index = inquiry.questions.indexOf(question);
  const action = (key: Extract<StringKey, `button.${string}`>, kind: "other" | "back" | "skip"): Choice => ({
    label: say(locale, key),
    mark: "",
    question: index,
    act: { kind },
  });
  const writing = promptFor.entry?.question === index;
  const free = question.options.length === 0;
  const options = question.options.map(
    (option, place): Choice => ({
      label: labelOf(question, option.label),
      mark: shownMark(locale, question, place),
      question: index,
      act: { kind: "option", index: place },
    }),
  );
  const toggle = writing ? action("button.back", "back") : action(free ? "button.write" : "button.other", "other");
  return [...options, ...(question.allowOther || free ? [toggle] : []), action("button.skip", "skip")];
}

function entryOf({ inquiry, promptFor, locale }: PromptView): Prompt["entry"] {
  const { entry } = promptFor;
  const question = entry && inquiry.questions[entry.question];
  if (!question || inquiry.resolutions.has(question.id)) return null;
  const text = say(locale, "entry.text", { header: question.header });
  return { placeholder: say(locale, "entry.placeholder"), text, person: entry.person };
}
