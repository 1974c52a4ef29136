import { createRequire } from 'node:module'

/** Version of the package, as its manifest has it. */
export const VERSION = (createRequire(import.meta.url)('../package.json') as { version: string }).version
