import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Sandbox, Svc, signWebhook } from '@svc/sdk'
import { afterAll, beforeAll, expect, test } from 'vitest'
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

const RECEIVERS = {
  node: [process.execPath, 'server.mjs'],
  express: [process.execPath, 'server.mjs'],
  fastify: [process.execPath, 'server.mjs'],
  python: ['/usr/bin/python3', 'server.py'],
} as const

/** A receiver that runs, and what it has printed. */
class Receiver {
  readonly url: string
  printed = ''
  readonly #child: ChildProcess

  private constructor(child: ChildProcess, port: number) {
    this.#child = child
    this.url = `http://127.0.0.1:${port}/hook`
    for (const stream of [child.stdout!, child.stderr!])
      stream.on('data', (part) => {
        this.printed += part
      })
  }

  static async open(name: keyof typeof RECEIVERS, port: number, secret: string): Promise<Receiver> {
    const [program, file] = RECEIVERS[name]
    const cwd = join(place, 'examples/receivers', name)
    const env = { ...process.env, PORT: `${port}`, WEBHOOK_SECRET: secret }
    const receiver = new Receiver(spawn(program, [file], { cwd, env }), port)
    await receiver.until('listening')
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
    this.#child.kill()
    await once(this.#child, 'exit')
  }
}

test.each(Object.keys(RECEIVERS) as (keyof typeof RECEIVERS)[])(
  'the receiver for %s accepts a delivery of the service once, and none that is forged, re-serialised or old',
  async (name) => {
    if (name === 'python' && !works('/usr/bin/python3', '--version')) return
    const { webhooks, qrCodes } = sandbox.merchant
    const port = await freePort()
    const types = ['qr_code.credited' as const]
    const endpoint = await webhooks.create({ url: `http://127.0.0.1:${port}/hook`, types })
    const receiver = await Receiver.open(name, port, endpoint.secret)
    try {
      const code = await qrCodes.create({ qrName: name, amount: 249.5, fixedAmount: true })
      await sandbox.pay({ qrCodeId: code.qrCodeId, payerVpa: 'asha@bank' })
      await receiver.until('received qr_code.credited 249.5')

      const event = { id: 'evt_1', type: 'qr_code.credited', data: { amount: 1 } }
      const { body, headers } = signWebhook(event, endpoint.secret)
      expect(await receiver.send(body, headers)).toBe(204)
      expect(await receiver.send(body, headers)).toBe(204)
      expect(await receiver.send(body.replace('"amount":1', '"amount":9'), headers)).toBe(400)
      expect(await receiver.send(JSON.stringify(JSON.parse(body), null, 1), headers)).toBe(400)
      const old = signWebhook(event, endpoint.secret, new Date(Date.now() - 3_600_000))
      expect(await receiver.send(old.body, old.headers)).toBe(400)
      await receiver.until('received qr_code.credited 1\n')
      expect(receiver.printed.match(/received qr_code\.credited 1\n/g)).toHaveLength(1)
    } finally {
      await receiver.close()
      await webhooks.delete(endpoint.endpointId)
    }
  },
)

test('the small shop is paid, refunds, cancels, and returns what comes too late', async () => {
  const env = { ...process.env, DATA_DIR: join(place, 'data') }
  const { stdout } = await run(process.execPath, ['shop.mjs'], { cwd: join(place, 'examples/shop'), env })
  for (const line of ['Tea: paid', 'Tea: refunded', 'Cake: cancelled', 'too late: qr_code_cancelled'])
    expect(stdout).toContain(line)
})

test('the job for CI runs the script of the guide, with the version of this release', async () => {
  const job = await readFile(join(ROOT, 'examples/ci/github-actions.yaml'), 'utf8')
  const guide = await readFile(join(ROOT, 'docs/guides/test-in-ci.md'), 'utf8')
  const [, shown] = /^```yaml\n(.*?)^```$/ms.exec(guide)!
  expect(job.replace(/^#.*\n/gm, '')).toBe(shown)
  const script = await readFile(join(ROOT, 'examples/ci/with-sandbox.sh'), 'utf8')
  expect(guide).toContain(script)
})
