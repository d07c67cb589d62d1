/**
 * Texts that have broken bridges: each is to be shown and read back exactly as written, whatever the platform makes of
 * such characters elsewhere. Sources: the public reports at https://github.com/vercel/chat/pull/407 and
 * https://github.com/NousResearch/hermes-agent/pull/9722, and the markup documents of the platforms themselves.
 */

/** Characters and words that some markup reserves, alone and together. */
export const RESERVED = [
  "*",
  "_",
  "[",
  "]",
  "`",
  "(",
  ")",
  ".",
  "!",
  "-",
  "#",
  "\\",
  "<b>",
  "a<b && c>d",
  "snake_case_name",
  "v1.2-rc_3",
];

export const HOSTILE_TEXTS: readonly (readonly [name: string, text: string])[] = [
  ...RESERVED.map((text) => [`reserved ${text}`, text] as const),
  ["everything reserved at once", RESERVED.join(" ")],
  ["unbalanced markup", "*bold _both [link](http://x ``` code ~ || ** __"],
  ["tags and entities", '<a href="javascript:alert(1)">x</a> &amp; &lt;b&gt; &#39; <br/> <script>'],
  ["links in every spelling", "[Approve](https://example.org) <https://example.org|here> https://example.org"],
  [
    "mentions in every spelling",
    "@everyone @here @channel <@100> <@!100> <@&1> <#1> <!channel> <!subteam^S1> @ana_bot",
  ],
  ["commands and times", "/start /skip@bot <t:0:R> :smile: <:pepe:1>"],
  ["forged chrome", "Answered: Production, by Ana\n\n1. Approve\n2. Deny\nReply with 1"],
  ["right to left", "کدام محیط؟ staging یا production، نسخهٔ ۲"],
  ["isolates and joiners", "\u2068سلام\u2069 می\u200cخواهم \u2067abc\u2069"],
  ["combining marks", "Z\u0351\u0343a\u0300l\u0301g\u0302o\u0303 e\u0301 n\u0303"],
  ["families and flags", "👨‍👩‍👧‍👦 👩🏽‍🚀 🏳️‍🌈 🇮🇷 👍🏿"],
  ["placeholders of other languages", "%s %d $x $& {{y}} {0} $1 __proto__ null undefined"],
  ["several lines", "one\ntwo\n\nfour"],
];

/** The longest question allowed: 4,000 characters, in words and in one unbroken line of wide ones. */
export const LONG_TEXTS: readonly (readonly [name: string, text: string])[] = [
  ["4,000 characters in words", "deploy_v1.2 ".repeat(334).slice(0, 3_999).concat("!")],
  ["4,000 emoji without a space", "🚀".repeat(4_000)],
];
