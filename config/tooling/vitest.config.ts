import { defineConfig } from "vitest/config";

/** Real time-outs fail a test that hangs; nothing is retried, so a test that passes sometimes is seen. */
export default defineConfig({
  test: {
    root: new URL("../..", import.meta.url).pathname,
    include: ["test/**/*.test.ts"],
    environment: "node",
    // Most tests wait for a process, a database or a clock: more of them than there are cores keep two cores busy.
    maxWorkers: 3,
    globalSetup: "test/fixtures/postgres-setup.ts",
    testTimeout: 20_000,
    hookTimeout: 20_000,
    retry: 0,
    allowOnly: false,
  },
});
