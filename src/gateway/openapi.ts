/**
 * `/openapi.json`: what the gateway serves, told from the descriptions of its routes.
 */
import { z } from "zod";
import { type App, answer, refusals } from "./app.ts";

const TAGS = [
  { name: "inquiries", description: "Asking people, and what became of it." },
  { name: "runs and tasks", description: "What agents work on: its end or progress ends what was asked for it." },
  { name: "events", description: "What happens, told live." },
  { name: "administration", description: "Keys of programs and accounts of people; operators only." },
  { name: "operations", description: "For those who run the gateway; no key." },
  { name: "channels", description: "For the platforms through which people are reached." },
];

const HEAD = {
  openapi: "3.1.0",
  info: {
    title: "Askgate",
    version: "1",
    summary: "Ask people from an agent, wherever they already are, and get the answer back exactly once.",
    license: { name: "MIT", identifier: "MIT" },
  },
  servers: [{ url: "/", description: "The gateway that serves this document." }],
  tags: TAGS,
  security: [{ key: [] }],
};

/** Called when every other route is described. */
export function openapi(app: App): void {
  app.openAPIRegistry.registerComponent("securitySchemes", "key", {
    type: "http",
    scheme: "bearer",
    description: "A key made by `askgate keys add`, or one that the gateway was started with.",
  });
  app.openAPIRegistry.registerPath({
    method: "get",
    path: "/openapi.json",
    operationId: "getOpenapi",
    tags: ["operations"],
    summary: "This document",
    security: [],
    responses: { ...refusals(), 200: answer(z.looseObject({ openapi: z.string() }), "OpenAPI 3.1.") },
  });
  app.doc31("/openapi.json", HEAD);
}
