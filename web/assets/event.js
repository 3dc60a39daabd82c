// Keeps the shared figures of a page true: one document, the same for everyone.
"use strict";
(() => {
  const box = document.querySelector("[data-status]");
  if (!box) return;
  const draw = (d) => {
    const flat = { ...d, ...d.seats };
    for (const el of document.querySelectorAll("[data-f]")) {
      const v = flat[el.dataset.f];
      if (v !== undefined && el.dataset.f !== "ahead") el.textContent = v;
    }
    for (const part of ["sold", "pending", "free"]) {
      const i = box.querySelector(".bar ." + part);
      if (i) i.style.flexGrow = d.seats[part];
    }
    document.dispatchEvent(new CustomEvent("status", { detail: d }));
  };
  let tag = "";
  const poll = async () => {
    if (document.hidden) return;
    try {
      const res = await fetch(box.dataset.status, tag ? { headers: { "If-None-Match": tag } } : {});
      if (res.status === 200) {
        tag = res.headers.get("ETag") || "";
        draw(await res.json());
      }
    } catch { /* the next one may arrive */ }
  };
  // One request chain: the next is asked for when the last is through.
  let timer = 0;
  const loop = async () => {
    clearTimeout(timer);
    await poll();
    timer = setTimeout(loop, window.nextPoll ? window.nextPoll() : 2000);
  };
  document.addEventListener("visibilitychange", () => { if (!document.hidden) loop(); });
  loop();
})();
