#!/usr/bin/env node
// `npx @svc/partner-service`: svc, which without a command runs the service.
process.argv[2] ??= 'serve'
await import('./svc.mjs')
