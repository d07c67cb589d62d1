/**
 * Judges a call's body by the table of telegram-rules.ts, and by the rules that span several fields.
 *
 * It reports every fault with its path and never looks at chats or messages: what exists is another file's business.
 */
import { BUTTON_ACTIONS, type Field, type Fields, METHODS, TYPES } from "./telegram-rules.ts";

type Json = Readonly<Record<string, unknown>>;

/** Every fault of a call's body, each with its path; empty when the platform would take it. */
export function faultsOf(method: string, body: unknown): readonly string[] {
  const fields = METHODS[method];
  if (fields === undefined) return [`${method}: no such method`];
  if (!isObject(body)) return ["the body must be a JSON object"];
  const faults = objectFaults(fields, body, "");
  return faults.length > 0 ? faults : [...messageFaults(method, body)];
}

function objectFaults(fields: Fields, value: Json, path: string): string[] {
  const at = (name: string) => (path === "" ? name : `${path}.${name}`);
  const unknown = Object.keys(value).filter((name) => !Object.hasOwn(fields, name));
  const missing = Object.keys(fields).filter((name) => fields[name]?.required && value[name] === undefined);
  return [
    ...unknown.map((name) => `${at(name)}: no such field`),
    ...missing.map((name) => `${at(name)}: required`),
    ...Object.entries(fields).flatMap(([name, field]) =>
      value[name] === undefined ? [] : valueFaults(field, value[name], at(name)),
    ),
  ];
}

function valueFaults(field: Field, value: unknown, path: string): string[] {
  switch (field.is) {
    case "integer":
      return integerFaults(field.min, field.max, value, path);
    case "boolean":
      return typeof value === "boolean" ? [] : [`${path}: must be a boolean`];
    case "string":
      return stringFaults(field, value, path);
    case "chat":
      return Number.isSafeInteger(value) || (typeof value === "string" && /^(-?\d+|@\w{4,})$/.test(value))
        ? []
        : [`${path}: must be a chat id or @username`];
    case "list":
      if (!Array.isArray(value)) return [`${path}: must be an array`];
      if (value.length > (field.max ?? Number.POSITIVE_INFINITY)) return [`${path}: more than ${field.max} items`];
      return value.flatMap((item, index) => valueFaults(field.of, item, `${path}[${index}]`));
    case "object":
      return typedFaults(field.types, value, path);
    case "opaque":
      return [`${path}: known to the platform, not spoken by this server`];
  }
}

function integerFaults(min: number | undefined, max: number | undefined, value: unknown, path: string): string[] {
  if (typeof value !== "number" || !Number.isSafeInteger(value)) return [`${path}: must be an integer`];
  if (min !== undefined && value < min) return [`${path}: less than ${min}`];
  if (max !== undefined && value > max) return [`${path}: more than ${max}`];
  return [];
}

function stringFaults(field: Field & { is: "string" }, value: unknown, path: string): string[] {
  if (typeof value !== "string") return [`${path}: must be a string`];
  if (/\p{Surrogate}/u.test(value)) return [`${path}: not valid Unicode`];
  const length = [...value].length;
  if (field.min !== undefined && length < field.min) return [`${path}: shorter than ${field.min} characters`];
  if (field.max !== undefined && length > field.max) return [`${path}: longer than ${field.max} characters`];
  if (field.bytes !== undefined && Buffer.byteLength(value) > field.bytes)
    return [`${path}: more than ${field.bytes} bytes`];
  if (field.like !== undefined && !field.like.test(value)) return [`${path}: must match ${field.like.source}`];
  return [];
}

/** Which of several types is meant shows in the one required field that names it. */
function typedFaults(types: readonly string[], value: unknown, path: string): string[] {
  if (!isObject(value)) return [`${path}: must be an object`];
  const type =
    types.find((name) => Object.entries(TYPES[name] ?? {}).some(([key, f]) => f.required && key in value)) ?? types[0];
  const faults = objectFaults(TYPES[type ?? ""] ?? {}, value, path);
  if (faults.length > 0) return faults;
  if (type === "InlineKeyboardMarkup") return keyboardFaults(value.inline_keyboard as Json[][], path);
  if (type === "MessageEntity") return entityFaults(value, path);
  if (
    (type === "ForceReply" && value.force_reply !== true) ||
    (type === "ReplyKeyboardRemove" && value.remove_keyboard !== true)
  )
    return [`${path}: must be true where it is given`];
  return [];
}

function keyboardFaults(rows: readonly (readonly Json[])[], path: string): string[] {
  const faults: string[] = [];
  if (rows.flat().length > 100) faults.push(`${path}: more than 100 buttons`);
  for (const [r, row] of rows.entries()) {
    if (row.length < 1 || row.length > 8) faults.push(`${path}.inline_keyboard[${r}]: a row has 1 to 8 buttons`);
    for (const [b, button] of row.entries()) {
      const at = `${path}.inline_keyboard[${r}][${b}]`;
      const actions = Object.keys(button).filter((name) => Object.hasOwn(BUTTON_ACTIONS, name));
      if (actions.length !== 1) faults.push(`${at}: exactly one action is needed, got ${actions.length}`);
      if (String(button.text).trim() === "") faults.push(`${at}.text: blank`);
    }
  }
  return faults;
}

function entityFaults(entity: Json, path: string): string[] {
  const owners: Readonly<Record<string, string>> = {
    url: "text_link",
    language: "pre",
    custom_emoji_id: "custom_emoji",
  };
  const stray = Object.keys(owners).filter((name) => name in entity && entity.type !== owners[name]);
  const missing = entity.type === "text_link" && entity.url === undefined;
  return [
    ...stray.map((name) => `${path}.${name}: not on ${entity.type}`),
    ...(missing ? [`${path}.url: required`] : []),
  ];
}

/** Rules over several fields at once. */
function* messageFaults(method: string, body: Json): Generator<string> {
  if (method.startsWith("edit") && (body.chat_id === undefined || body.message_id === undefined))
    yield "chat_id and message_id: required together";
  if (method === "editMessageText" && body.text === undefined) yield "text: required";
  const text = body.text;
  if (typeof text !== "string" || method === "answerCallbackQuery") return;
  if (text.trim() === "") yield "message text is empty";
  for (const [index, entity] of ((body.entities ?? []) as { offset: number; length: number }[]).entries()) {
    const end = entity.offset + entity.length;
    if (end > text.length) yield `entities[${index}]: ends outside the text`;
    else if (splitsPair(text, entity.offset) || splitsPair(text, end))
      yield `entities[${index}]: cuts a character in two`;
  }
}

function splitsPair(text: string, offset: number): boolean {
  return /[\uD800-\uDBFF]/.test(text.charAt(offset - 1)) && /[\uDC00-\uDFFF]/.test(text.charAt(offset));
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
