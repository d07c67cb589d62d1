/**
 * What is sent to a channel, handed to it as it came. A platform's request is untouched: its channel verifies who sent it
 * before it reads anything, and bounds what it reads. Of this house's own the size is bounded here.
 */
import { z } from "zod";
import type { Mount } from "../ports/channel.ts";
import { type App, refusals } from "./app.ts";
import { limited } from "./body.ts";
import { name } from "./wire.ts";

export type Mounts = ReadonlyMap<string, Mount>;

export function channelRoutes(app: App, path: string, mounts: Mounts, audiences: readonly Mount["audience"][]): void {
  app.all(path, async (c) => {
    const mount = mounts.get(c.req.param("name") ?? "");
    if (!mount || !audiences.includes(mount.audience)) return c.notFound();
    return mount.handle(mount.audience === "platform" ? c.req.raw : limited(c.req.raw));
  });
}

/** A wrong method, a body that comes too slowly, one that is not JSON. */
const UNREAD = [405, 408, 415].map((status) => ["invalid_request", status] as const);

export function describeChannels(app: App): void {
  app.openAPIRegistry.registerPath({
    method: "post",
    path: "/channels/{name}",
    operationId: "receiveFromPlatform",
    tags: ["channels"],
    summary: "What a platform sends to its channel",
    description:
      "Body and answer are the platform's own. The channel verifies who sent it before anything is read; paths beneath belong to channels of this house, such as the terminal. With a public port set, platforms reach theirs on that port alone.",
    security: [],
    request: { params: z.object({ name: name.meta({ description: "The channel, as `telegram`." }) }) },
    responses: {
      200: { description: "Taken, in the form the platform expects." },
      default: { description: "Whatever else the channel answers." },
      ...refusals("unauthorized", "not_found", "too_large", "invalid_request", ...UNREAD),
    },
  });
}
