/** Where an inquiry goes, and when it is lost. */
import { describe, expect, test } from "vitest";
import type { DeliveryState } from "../../src/core/delivery.ts";
import type { Directory } from "../../src/core/people.ts";
import { type CopyOutlook, lostCause, type RouteRequest, routeOf, unseenReason } from "../../src/core/route.ts";

const person = (name: string, roles: readonly string[], ...identities: readonly string[]) => {
  return [name, { name, identities, roles, locale: null }] as const;
};
const DIRECTORY: Directory = {
  people: new Map([
    person("ana", ["owner"], "chat:1", "other:1", "terminal:ana"),
    person("ben", ["team"], "chat:2", "web:ben"),
  ]),
  sessions: new Map([
    ["ops", { addresses: ["chat:-9"], respondents: ["ben"], kind: "main" }],
    ["team", { addresses: [], respondents: ["role:team"], kind: "main" }],
  ]),
  admit: new Map(),
};
const CHATS = new Set(["chat", "terminal"]);

function routed(request: Partial<RouteRequest>, channels: ReadonlySet<string> = CHATS): string {
  const asked = { session: "main", to: [], respondents: [], sensitive: false, ...request };
  const { addresses, respondents } = routeOf(DIRECTORY, asked, channels);
  return `${respondents.join(" ")} at ${addresses.join(" ")}`.trim();
}

describe("an inquiry goes", () => {
  test.each<readonly [string, Partial<RouteRequest>, string]>([
    ["to the owner's places where nobody is named", {}, "role:owner at chat:1 terminal:ana"],
    [
      "to the respondents' places",
      { respondents: ["ana", "ben"] },
      "ana ben at chat:1 chat:2 terminal:ana terminal:ben",
    ],
    ["to the addresses named", { to: ["chat:-1"] }, "role:owner at chat:-1 terminal:ana"],
    ["to each address once", { to: ["chat:-1", "terminal:ana", "chat:-1"] }, "role:owner at chat:-1 terminal:ana"],
    ["to a channel that is off, to fail there", { to: ["slack:U1"] }, "role:owner at slack:U1 terminal:ana"],
    ["where its session says, for whom it says", { session: "ops" }, "ben at chat:-9 terminal:ben"],
    ["to its session's respondents", { session: "team" }, "role:team at chat:2 terminal:ben"],
    [
      "where its caller says rather",
      { session: "ops", to: ["chat:5"], respondents: ["ana"] },
      "ana at chat:5 terminal:ana",
    ],
    ["nowhere for nobody", { respondents: ["role:nobody"] }, "role:nobody at"],
    ["nowhere with a secret and no web page", { sensitive: true }, "role:owner at"],
  ])("%s", (_, request, route) => {
    expect(routed(request)).toBe(route);
  });

  test("to the web page alone with a secret", () => {
    const channels = new Set(["chat", "terminal", "web"]);
    expect(routed({ sensitive: true, respondents: ["ben"] }, channels)).toBe("ben at web:ben");
  });
});

/** `failed`, `failed rate_limited`, `surface absent`. */
function outlook(words: string): CopyOutlook {
  const [first = "", ...rest] = words.split(" ");
  const surface = first === "surface";
  const [state, reason = null] = surface ? rest : [first, ...rest];
  return { state: state as DeliveryState, reason, surface };
}

describe("it is lost", () => {
  test.each<readonly [string, string | null]>([
    ["", "no_surface"],
    ["pending", null],
    ["queued", null],
    ["unknown", null],
    ["shown", null],
    ["absent", null],
    ["failed", "unreachable"],
    ["closed", "unreachable"],
    ["failed, closed", "unreachable"],
    ["failed, pending", null],
    ["failed rate_limited", "rate_limited"],
    ["failed gone, failed rate_limited", "rate_limited"],
    ["surface absent", null],
    ["surface queued, surface absent", null],
    ["failed, surface absent", "unreachable"],
    ["failed, surface queued", "unreachable"],
    ["failed, surface pending", null],
    ["failed, surface shown", null],
    ["surface failed", "unreachable"],
  ])("with the copies [%s]: %s", (copies, cause) => {
    expect(lostCause(copies === "" ? [] : copies.split(", ").map(outlook))).toBe(cause);
  });
});

describe("nobody saw it by its deadline", () => {
  test.each<readonly [string, string]>([
    ["", "no_surface"],
    ["pending", "queued"],
    ["queued", "queued"],
    ["unknown", "delivery_unknown"],
    ["unknown, failed", "delivery_unknown"],
    ["unknown, pending", "delivery_unknown"],
    ["failed", "unreachable"],
    ["failed, failed", "unreachable"],
    ["failed, pending", "queued"],
    ["failed, surface absent", "no_surface"],
    ["surface absent", "no_surface"],
  ])("with the copies [%s]: %s", (copies, reason) => {
    expect(unseenReason(copies === "" ? [] : copies.split(", ").map(outlook))).toBe(reason);
  });
});
