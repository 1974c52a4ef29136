import { readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { PACKAGE_ROOT } from '@svc/platform/package'

/** The documentation as `npm run build` writes it, the same that is published. */
const SITE = join(PACKAGE_ROOT, 'dist-site')

/** What is served of it: pages, the same as Markdown, and what they show. */
const FILE =
  /^\/(?:docs\/(?:errors|guides(?:\.md)?|(?:tutorial|guides|contribute|decisions|reference(?:\/api)?)\/[\w-]+(?:\.md)?|assets\/site\.(?:css|js)|assets\/search\.json|clients\/(?:svc_client\.py|Svc\.java|Svc\.php)|images\/[\w-]+\.(?:png|svg))|llms(?:-full)?\.txt)$/

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.py': 'text/plain; charset=utf-8',
  '.java': 'text/plain; charset=utf-8',
  '.php': 'text/plain; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
}

export interface SiteFile {
  readonly type: string
  readonly content: Buffer
}

/** The file of an address, or `undefined` where there is none. */
export async function siteFile(path: string): Promise<SiteFile | undefined> {
  if (!FILE.test(path)) return undefined
  const file = extname(path) === '' ? `${path}.html` : path
  const content = await readFile(join(SITE, file)).catch(() => undefined)
  return content && { type: TYPES[extname(file)]!, content }
}
