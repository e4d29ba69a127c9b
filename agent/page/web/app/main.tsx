import { render } from "preact";
import { isSignedOut } from "../../../../server/web/api.ts";
import { followNews } from "../../../../server/web/live.ts";
import { wordErrorsBy } from "../../../../server/web/resource.tsx";
import { LocalApp } from "./app.tsx";
import { faultText } from "../../types/words/fault-words.ts";
import "../../../../server/web/style.css";

const root = document.getElementById("app");
if (root === null) throw new Error("expected an element #app in local-app/index.html");
wordErrorsBy(faultText);
render(<LocalApp />, root);

followNews(() => (isSignedOut.value ? null : "/local/v1/events"));
