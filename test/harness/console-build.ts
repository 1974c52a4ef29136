import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** The pages as their sources are now; nothing is done when it was built from them already. */
export default function setup(): void {
  const script = fileURLToPath(new URL('../../scripts/build.mjs', import.meta.url))
  execFileSync(process.execPath, [script, 'console', 'portal'], { stdio: 'inherit' })
}
