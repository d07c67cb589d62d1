/**
 * Words with a fixed meaning, of all languages at once: a person may answer in another language than they were asked.
 *
 * Decides only whether a whole text is such a word. Words of a label always go before these.
 */
import { LOCALES, type Words } from "../locales/locale.ts";
import { fold, withoutEnd } from "./fold.ts";

/** One to four, the only numbers a position can have; spelt as in the languages people are likely to write. */
const NUMBERS = [
  "one un una uno ein eins eine une um uma один одна jeden jedna een één bir واحد یک एक 一 일 하나",
  "two dos zwei deux dois duas due два две dwa dwie twee iki اثنين اثنان دو दो 二 两 이 둘",
  "three tres drei trois três tre три trzy drie üç ثلاثة سه तीन 三 삼 셋",
  "four cuatro vier quatre quatro quattro четыре cztery dört أربعة چهار चार 四 사 넷",
] as const;

/** Bare words of agreement and refusal: in a batch they belong to no question. */
const YES_NO =
  "y yes yep yeah sure ok okay n no nope nah si sí claro ja jo klar nein nö oui ouais non sim não da да ага нет tak nie nee evet hayır نعم لا بله آره نه خیر हाँ हां नहीं ना 是 好 对 不 否 はい いいえ 네 예 아니요";

const NONE = "none, none of these, ninguno, ninguna, keine, keins, keine davon, هیچکدام, هیچ کدام";

const ALL = "all, all of them, everything, todos, todas, todo, alle, alles, همه";

const NUMBER_WORDS = new Map(
  NUMBERS.flatMap((words, index) => words.split(" ").map((word) => [fold(word), index + 1])),
);
const YES_NO_WORDS = new Set(YES_NO.split(" ").map(fold));
const NONE_WORDS = new Set(NONE.split(", ").map(fold));
const ALL_WORDS = new Set(ALL.split(", ").map(fold));

function wordsOf(kind: keyof Words): ReadonlySet<string> {
  return new Set(Object.values(LOCALES).flatMap((locale) => locale.words[kind].map(fold)));
}

const OTHER_WORDS = wordsOf("other");
const SKIP_WORDS = wordsOf("skip");
const CANCEL_WORDS = wordsOf("cancel");

/** The folded text without what may trail a word: dots, ellipsis, colon, exclamation mark, spaces. */
function bare(text: string): string {
  return withoutEnd(fold(text), " \n.:!,;");
}

/** Whether an authored label only says what the free text of Askgate is called. */
export function meansOther(label: string): boolean {
  return OTHER_WORDS.has(bare(label));
}

/** Cancel words too: declining one question is all they can mean inside one. `/skip` is the platform command. */
export function isSkipWord(reply: string): boolean {
  const word = bare(reply).replace(/^\//u, "");
  return SKIP_WORDS.has(word) || isCancelWord(reply);
}

/** Whether the whole reply is a word that closes the inquiry. Ask only of a reply that is no label. */
export function isCancelWord(reply: string): boolean {
  return CANCEL_WORDS.has(bare(reply).replace(/^\//u, ""));
}

export function isNoneWord(reply: string): boolean {
  return NONE_WORDS.has(bare(reply));
}

export function isAllWord(reply: string): boolean {
  return ALL_WORDS.has(bare(reply));
}

export function isYesNoWord(reply: string): boolean {
  return YES_NO_WORDS.has(bare(reply));
}

/** The number 1 to 4 that a folded word says; undefined for every other word. */
export function numberWord(word: string): number | undefined {
  return NUMBER_WORDS.get(word);
}

/** The text after a leading "Other:" in any language, or null. */
export function afterOther(reply: string): string | null {
  const match = /^([^:：\-–—]{1,40})(?:[:：]|\s[-–—]\s)/u.exec(reply);
  if (!match || !OTHER_WORDS.has(bare(match[1] ?? ""))) return null;
  return reply.slice(match[0].length).trim();
}
