import { render } from "preact";
import { isSignedOut } from "../api.ts";
import { followNews } from "../live.ts";
import { LocalApp } from "./app.tsx";
import "../style.css";

const root = document.getElementById("app");
if (root === null) throw new Error("expected an element #app in local-app/index.html");
render(<LocalApp />, root);

followNews(() => (isSignedOut.value ? null : "/local/v1/events"));
