import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Sandbox, Svc, signWebhook } from '@svc/sdk'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { freePort } from '../harness/free-port.ts'
import { works } from '../harness/guides.ts'
import { packSdk } from '../harness/packed-sdk.ts'
import { type ServiceProcess, startProcess } from '../harness/processes.ts'
import { MASTER_KEY, newDatabase } from '../harness/service.ts'
import { ROOT } from '../harness/sources.ts'

const run = promisify(execFile)

// The examples as a reader has them: copied into a folder with the packed SDK and the frameworks.
let place: string
let service: ServiceProcess
let sandbox: Sandbox
beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'svc-examples-'))
  await cp(join(ROOT, 'examples'), join(place, 'examples'), { recursive: true })
  await writeFile(join(place, 'package.json'), '{"private":true}')
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', await packSdk(place)], { cwd: place })
  for (const framework of ['express', 'fastify'])
    await symlink(join(ROOT, 'node_modules', framework), join(place, 'node_modules', framework))
  await mkdir(join(place, 'data'))
  const { url } = await newDatabase()
  service = await startProcess({
    DATABASE_URL: url,
    SVC_MASTER_KEY: MASTER_KEY,
    DATA_DIR: join(place, 'data'),
  })
  sandbox = await Svc.sandbox({ dataDir: join(place, 'data') })
}, 240_000)
afterAll(async () => {
  await service.end('SIGTERM')
  await rm(place, { recursive: true, force: true })
})

interface Kind {
  readonly command: readonly [program: string, ...args: string[]]
  /** What it needs besides Node, and whether that is here. */
  readonly needs?: string
  readonly runs?: boolean
}

const SERVER = { command: [process.execPath, 'server.mjs'] } as const
const PYTHON = '/usr/bin/python3'
const imports = (...modules: string[]) => works(PYTHON, '-c', `import ${modules.join(', ')}`)
const UVICORN = ['-m', 'uvicorn', '--log-level', 'warning', '--port', 'PORT', 'server:app'] as const

const RECEIVERS = {
  node: SERVER,
  web: SERVER,
  express: SERVER,
  fastify: SERVER,
  python: { command: [PYTHON, 'server.py'], needs: 'python3', runs: works(PYTHON, '--version') },
  fastapi: {
    command: [PYTHON, ...UVICORN],
    needs: 'python3-fastapi, python3-uvicorn and python3-cryptography',
    runs: imports('fastapi', 'uvicorn', 'cryptography'),
  },
  django: {
    command: [PYTHON, 'server.py'],
    needs: 'python3-django and python3-cryptography',
    runs: imports('django', 'cryptography'),
  },
  php: { command: ['php', '-S', '127.0.0.1:PORT', 'hook.php'], needs: 'php-cli', runs: works('php', '-v') },
  java: { command: ['java', 'Receiver'], needs: 'a JDK of version 17', runs: works('javac', '-version') },
} as const satisfies Record<string, Kind>
type Name = keyof typeof RECEIVERS
const NAMES = Object.keys(RECEIVERS) as Name[]
const runs = (name: Name): boolean => (RECEIVERS[name] as Kind).runs ?? true

/** The clients as a reader has them: each copied beside the receiver. */
async function copyClients(): Promise<void> {
  const folderOf = (name: Name) => join(place, 'examples/receivers', name)
  for (const name of ['fastapi', 'django'] as const)
    await cp(join(ROOT, 'clients/python/svc_client.py'), join(folderOf(name), 'svc_client.py'))
  await cp(join(ROOT, 'clients/php/Svc.php'), join(folderOf('php'), 'Svc.php'))
  await cp(join(ROOT, 'clients/java/Svc.java'), join(folderOf('java'), 'Svc.java'))
  if (runs('java')) await run('javac', ['Svc.java', 'Receiver.java'], { cwd: folderOf('java') })
}

/** A receiver that runs, and what it has printed. */
class Receiver {
  /** Also those that did not come up. */
  static readonly all: Receiver[] = []
  readonly url: string
  readonly secret: string
  printed = ''
  readonly #child: ChildProcess

  private constructor(child: ChildProcess, url: string, secret: string) {
    this.#child = child
    this.url = url
    this.secret = secret
    Receiver.all.push(this)
    for (const stream of [child.stdout!, child.stderr!])
      stream.on('data', (part) => {
        this.printed += part
      })
  }

  /** Starts it, with an endpoint of its own that leads to it. */
  static async open(name: Name): Promise<Receiver> {
    const port = await freePort()
    const url = `http://127.0.0.1:${port}/hook`
    const { secret } = await sandbox.merchant.webhooks.create({ url, types: ['qr_code.credited'] })
    const [program, ...args] = RECEIVERS[name].command.map((part) => part.replace('PORT', `${port}`))
    const cwd = join(place, 'examples/receivers', name)
    const env = { ...process.env, PORT: `${port}`, WEBHOOK_SECRET: secret, TMPDIR: place }
    const receiver = new Receiver(spawn(program!, args, { cwd, env }), url, secret)
    const responds = async () =>
      expect((await fetch(url, { method: 'POST' })).status, receiver.printed).toBe(400)
    await vi.waitFor(responds, { interval: 50, timeout: 60_000 })
    return receiver
  }

  async until(text: string): Promise<void> {
    await expect.poll(() => this.printed, { interval: 20 }).toContain(text)
  }

  async send(raw: string, headers: Record<string, string>): Promise<number> {
    const response = await fetch(this.url, {
      method: 'POST',
      body: raw,
      headers: { ...headers, 'content-type': 'application/json' },
    })
    return response.status
  }

  async close(): Promise<void> {
    if (this.#child.exitCode !== null) return
    this.#child.kill()
    await once(this.#child, 'exit')
  }
}

describe('receivers, all started at once', () => {
  const receivers = new Map<Name, Receiver>()
  beforeAll(async () => {
    await copyClients()
    const open = async (name: Name) => receivers.set(name, await Receiver.open(name))
    await Promise.all(NAMES.filter(runs).map(open))
    const code = await sandbox.merchant.qrCodes.create({ qrName: 'Tea', amount: 249.5, fixedAmount: true })
    await sandbox.pay({ qrCodeId: code.qrCodeId, payerVpa: 'asha@bank' })
  }, 120_000)
  afterAll(async () => {
    for (const receiver of Receiver.all) await receiver.close()
  })

  test.each(NAMES)(
    'the receiver for %s accepts a delivery of the service once, and none that is forged, re-serialised or old',
    async (name) => {
      const { needs }: Kind = RECEIVERS[name]
      const receiver = receivers.get(name)
      if (!receiver) return console.log(`The receiver for ${name} is not run: it needs ${needs}.`)
      await receiver.until('received qr_code.credited 249.5')

      const event = { id: 'evt_1', type: 'qr_code.credited', data: { amount: 1 } }
      const { body, headers } = signWebhook(event, receiver.secret)
      expect(await receiver.send(body, headers)).toBe(204)
      expect(await receiver.send(body, headers)).toBe(204)
      expect(await receiver.send(body.replace('"amount":1', '"amount":9'), headers)).toBe(400)
      expect(await receiver.send(JSON.stringify(JSON.parse(body), null, 1), headers)).toBe(400)
      const old = signWebhook(event, receiver.secret, new Date(Date.now() - 3_600_000))
      expect(await receiver.send(old.body, old.headers)).toBe(400)
      await receiver.until('received qr_code.credited 1\n')
      expect(receiver.printed.match(/received qr_code\.credited 1\n/g)).toHaveLength(1)
    },
  )
})

test('the small shop is paid, refunds, cancels, and returns what comes too late', async () => {
  const env = { ...process.env, DATA_DIR: join(place, 'data') }
  const { stdout } = await run(process.execPath, ['shop.mjs'], { cwd: join(place, 'examples/shop'), env })
  for (const line of ['Tea: paid', 'Tea: refunded', 'Cake: cancelled', 'too late: qr_code_cancelled'])
    expect(stdout).toContain(line)
})

test('the job for CI is the one of the guide', async () => {
  const job = await readFile(join(ROOT, 'examples/ci/github-actions.yaml'), 'utf8')
  const guide = await readFile(join(ROOT, 'docs/guides/test-in-ci.md'), 'utf8')
  const [, shown] = /^```yaml\n(.*?)^```$/ms.exec(guide)!
  expect(job.replace(/^#.*\n/gm, '')).toBe(shown)
})
