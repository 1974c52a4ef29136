#!/usr/bin/env node
import { existsSync } from 'node:fs'

const program = new URL('../dist/cli.js', import.meta.url)
if (!existsSync(program)) {
  console.error('svc is not built yet. Run: npm run build')
  process.exit(1)
}
await import(program.href)
