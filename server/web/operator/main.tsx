import { render } from "preact";
import { App } from "./app.tsx";
import "../style.css";

const root = document.getElementById("app");
if (root === null) throw new Error("expected an element #app in operator-app/index.html");
render(<App />, root);
