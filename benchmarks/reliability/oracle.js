// A replay of mutation logs by the rules of VS Code's own, for `differential.py`: one log of JSON in a line of standard input,
// one state in a line of standard output; `null` where VS Code would throw.
"use strict";

function applied(state, entry) {
  if (entry.kind === 0) return entry.v;
  const path = entry.k;
  if (path.length === 0 && entry.kind === 1) return state;
  let holder = state;
  for (let at = 0; at < path.length - 1; at++) holder = holder[path[at]];
  const last = path[path.length - 1];
  if (entry.kind === 1) holder[last] = entry.v;
  else if (entry.kind === 3) holder[last] = undefined;
  else if (entry.kind === 2) {
    const list = holder[last] || [];
    if (entry.i !== undefined) list.length = entry.i;
    if (entry.v !== undefined) for (const item of entry.v) list.push(item);
    holder[last] = list;
  } else throw new Error("unknown kind");
  return state;
}

for (const line of require("fs").readFileSync(0, "utf8").split("\n")) {
  if (!line) continue;
  let state;
  try {
    for (const entry of JSON.parse(line)) state = applied(state, entry);
    console.log(JSON.stringify(state === undefined ? null : state));
  } catch (error) {
    console.log("null");
  }
}
