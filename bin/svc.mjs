#!/usr/bin/env node
import { existsSync } from 'node:fs'

const built = new URL('../dist/cli.js', import.meta.url)
if (!existsSync(built)) {
  console.error('svc is not built yet. Run: npm run build')
  process.exit(1)
}
await import(built.href)
