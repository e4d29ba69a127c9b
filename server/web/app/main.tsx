import { render } from "preact";
import { App } from "./app.tsx";
import { followNews } from "../live.ts";
import { clinic } from "../session.ts";
import "../style.css";

const root = document.getElementById("app");
if (root === null) throw new Error("expected an element #app in index.html");
render(<App />, root);

followNews(() => (clinic.value === undefined ? null : `/clinic/v1/clinics/${clinic.value.fp}/events`));
