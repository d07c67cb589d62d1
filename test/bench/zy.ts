import { createRequire } from "node:module";
const D = createRequire(import.meta.url)("better-sqlite3-node20");
const P = D.prototype.prepare; const stat = new Map<string, [number, number]>();
D.prototype.prepare = function (sql: string) { const s = P.call(this, sql); const out: any = { reader: s.reader };
  for (const k of ["all", "run", "iterate"]) out[k] = (...a: any[]) => { const t = performance.now(); const r = s[k](...a); const d = performance.now() - t; const e = stat.get(sql) ?? [0, 0]; e[0]++; e[1] += d; stat.set(sql, e); return r; };
  return out; };
await import("./zz.ts");
const n = 4600; let tot = 0, cnt = 0; for (const [c, t] of stat.values()) { tot += t; cnt += c; }
console.log("total ms/cycle", (tot / n).toFixed(3), "stmts/cycle", (cnt / n).toFixed(1));
for (const [sql, [c, t]] of [...stat].sort((a, b) => b[1][1] - a[1][1]).slice(0, 60)) console.log((t / n).toFixed(4), (c / n).toFixed(2), (t / c * 1000).toFixed(0) + "us", sql.replace(/\s+/g, " ").slice(0, 600));
