// Keeps the page up to date: the server sends its inside anew. Nobody is disturbed who is about to send a form.
"use strict";
const place = document.getElementById("live");
const source = new EventSource(document.body.dataset.live);
const busy = () =>
  place.querySelector("input:checked, details[open]") !== null ||
  (document.activeElement !== document.body && place.contains(document.activeElement));
source.addEventListener("page", (event) => {
  if (!busy()) place.innerHTML = event.data;
});
source.addEventListener("end", () => {
  source.close();
  document.body.classList.add("stale");
});
source.addEventListener("error", () => document.body.classList.add("stale"));
source.addEventListener("open", () => document.body.classList.remove("stale"));
