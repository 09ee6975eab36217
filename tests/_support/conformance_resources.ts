/** Resources that the conformance suite reads by address. */
import { type McpServer, ResourceTemplate } from "@modelcontextprotocol/server";
import { PNG } from "./conformance_media.ts";

export function registerResources(mcp: McpServer): void {
  registerText(mcp, "static-text", "Text that stays as it is.");
  registerText(mcp, "watched-resource", "Text that clients may wait for.");
  mcp.registerResource(
    "static-binary",
    "test://static-binary",
    { description: "An image", mimeType: "image/png" },
    ({ href }) => ({ contents: [{ uri: href, mimeType: "image/png", blob: PNG }] }),
  );
  mcp.registerResource(
    "template",
    new ResourceTemplate("test://template/{id}/data", { list: undefined }),
    { description: "One for each id", mimeType: "application/json" },
    ({ href }, { id }) => ({
      contents: [{ uri: href, mimeType: "application/json", text: JSON.stringify({ id }) }],
    }),
  );
}

function registerText(mcp: McpServer, name: string, text: string): void {
  mcp.registerResource(
    name,
    `test://${name}`,
    { description: "A text", mimeType: "text/plain" },
    ({ href }) => ({ contents: [{ uri: href, mimeType: "text/plain", text }] }),
  );
}
