// `npm run dev`: serves, and starts again when a source changes. The embedded PostgreSQL is kept running in between, so
// that a restart takes as long as bundling and opening the service do. Data is kept in DATA_DIR, as by `npm start`.
import { spawn } from 'node:child_process'
import { watch } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openEmbedded } from '@svc/embedded-postgres/embedded'

const root = fileURLToPath(new URL('..', import.meta.url))
const server = process.env['DATABASE_URL']
  ? undefined
  : await openEmbedded({ dataDir: process.env['DATA_DIR'] ?? join(root, 'data'), onProgress: console.log })

let ending = false
let service = start()

function start() {
  const child = spawn(process.execPath, ['scripts/start.mjs'], { cwd: root, stdio: 'inherit' })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  return { child, ended }
}

let restarting: Promise<void> | undefined
async function restart(): Promise<void> {
  service.child.kill('SIGTERM')
  await service.ended
  restarting = undefined
  if (!ending) service = start()
}

let timer: NodeJS.Timeout | undefined
for (const folder of ['packages', 'migrations'])
  watch(join(root, folder), { recursive: true }, (_, file) => {
    if (!file || !/\.(?:ts|sql|json)$/.test(file)) return
    clearTimeout(timer)
    timer = setTimeout(() => {
      restarting ??= restart()
    }, 50)
  })

async function end(): Promise<void> {
  ending = true
  service.child.kill('SIGTERM')
  await service.ended
  await server?.release()
  process.exit()
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void end())
