import { deepStrictEqual as deepEqual, strictEqual as equal, throws } from "node:assert/strict";
import { describe, it } from "@std/testing/bdd";
import { editConfig, hasSetting, isConfigText } from "@/lib/cli/edit_config.ts";

const CHANGES = new Map<string, string | number | undefined>([
  ["embedding", "ollama"],
  ["embedding-dimensions", 640],
  ["embedding-model", undefined],
]);

describe("editConfig()", () => {
  it("editConfig() changes what is meant and leaves the rest as it is written", () => {
    const cases: [string, string][] = [
      ["", '{\n  "embedding": "ollama",\n  "embedding-dimensions": 640\n}\n'],
      ["{}", '{\n  "embedding": "ollama",\n  "embedding-dimensions": 640\n}'],
      [
        '{\n\t"port": 1,\n\t"embedding": "static",\n\t"log":"warn"\n}\n',
        '{\n\t"port": 1,\n\t"embedding": "ollama",\n\t"log":"warn",\n\t"embedding-dimensions": 640\n}\n',
      ],
      [
        '\uFEFF{\r\n    "embedding-model": "m",\r\n    "port": 1\r\n}\r\n',
        '\uFEFF{\r\n    "port": 1,\r\n    "embedding": "ollama",\r\n    "embedding-dimensions": 640\r\n}\r\n',
      ],
      [
        '{"embedding-model":"m","embedding":"none","embedding-dimensions":1}',
        '{"embedding":"ollama","embedding-dimensions":640}',
      ],
      [
        '{\n  "a": {"b":1} , "log":"warn"}',
        '{\n  "a": {"b":1} , "log":"warn",\n  "embedding": "ollama",\n  "embedding-dimensions": 640\n}',
      ],
      ['{"port":1}', '{"port":1, "embedding": "ollama", "embedding-dimensions": 640}'],
      ['{"embedding-model":"m"}', '{ "embedding": "ollama", "embedding-dimensions": 640}'],
    ];
    for (const [text, expected] of cases) equal(editConfig(text, CHANGES), expected);
  });

  it("editConfig() changes nothing where all stands there already", () => {
    const text = '{ "embedding":   "ollama", "embedding-dimensions": 640 }';

    equal(editConfig(text, CHANGES), text);
  });

  it("editConfig() refuses a name that stands there twice", () => {
    for (const name of ["embedding", "embedding-model"]) {
      throws(() => editConfig(`{"${name}": "a", "port": 1, "${name}": "b"}`, CHANGES), {
        code: "not-writable",
      });
    }
  });
});

describe("isConfigText()", () => {
  it("isConfigText() takes an object of JSON, and nothing at all", () => {
    const cases: [string, boolean][] = [
      ["", true],
      [" \n", true],
      ['\uFEFF{"port": 1}', true],
      ["[]", false],
      ['{"port": 1} // one', false],
      ['{"port": }', false],
    ];
    for (const [text, expected] of cases) equal(isConfigText(text), expected, text);
    deepEqual(["port", "host"].map((flag) => hasSetting('{"port": 1}', flag)), [true, false]);
  });
});
