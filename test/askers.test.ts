/** The contract of asking, one line for each way to ask. */
import { engineHarness, httpHarness } from "../src/testing/asker-engine.ts";
import { askerSuite } from "../src/testing/asker-suite.ts";

askerSuite("the engine", engineHarness);
askerSuite("HTTP", httpHarness);
