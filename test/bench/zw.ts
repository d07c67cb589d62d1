import { createRequire } from "node:module";
import { openStore } from "../../src/store/store.ts";
import { copyOf, inquiryOf, silent } from "../../src/testing/store-samples.ts";

const D = createRequire(import.meta.url)("better-sqlite3-node20");
const P = D.prototype.prepare;
let db: any;
const seen = new Map<string, any>();
D.prototype.prepare = function (sql: string) {
  db = this;
  const s = P.call(this, sql);
  const out: any = { reader: s.reader };
  for (const k of ["all", "run"])
    out[k] = (a: any) => {
      seen.set(sql, [s, a]);
      return s[k](...(a === undefined ? [] : [a]));
    };
  return out;
};
const store = await openStore("sqlite:/tmp/zw.db", { log: silent });
const i = inquiryOf("inq_" + Date.now());
const c = copyOf(i, "terminal:a" + Date.now(), { state: "shown", inLine: true });
await store.commit({ create: [i], add: [c] });
const a = c.delivery!.address;
await store.openCopies(a, 20);
await store.attachable({ owner: "key_1", session: "main", run: null, taskId: null, contentKey: "x", settledSince: 5 });
await store.inquiriesById(i.uid, "key_1");
await store.inquiry(i.uid);
await store.ready(a, 5);
await store.copyByKey(c.delivery!.promptKey);
await new Promise((r) => setTimeout(r, 50));
db.exec("begin");
for (const [sql, [s, args]] of seen) {
  if (!s.reader || !/^(select|with)/.test(sql) || /kysely|sqlite_master/.test(sql)) continue;
  for (let k = 0; k < 200; k++) s.all(args);
  const t = process.cpuUsage();
  for (let k = 0; k < 2000; k++) s.all(args);
  const u = process.cpuUsage(t);
  console.log(
    ((u.user + u.system) / 2000).toFixed(1),
    "us",
    s.all(args).length,
    sql.replace(/\s+/g, " ").slice(0, 120),
  );
}
db.exec("commit");
console.log(
  db
    .pragma("compile_options")
    .map((x: any) => x.compile_options)
    .join(" "),
);
