import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { connect, createServer, type Server } from 'node:net'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { DatabaseServer } from '../../lab/chaos/server.ts'
import { blocksOf } from '../harness/guides.ts'
import { buildImage, type Images, openImages } from '../harness/images.ts'

const PASSWORD = 'correct horse battery staple'
/** As deploy/compose.yaml runs it. Loopback is its whole network, so that port 8080 is free. */
const OPTIONS = [
  '--read-only',
  '--read-only-tmpfs=false',
  '--tmpfs=/tmp',
  '--cap-drop=all',
  '--security-opt=no-new-privileges',
  '--network=none',
  '--stop-timeout=40',
  // Without cgroups, and with limits that are not more than those of this process.
  '--cgroups=disabled',
  '--ulimit=nofile=1024:1024',
  '--ulimit=nproc=4096:4096',
  // systemd would run the check at intervals; here the test does.
  '--health-interval=disable',
]
/** Settings of the migration; the service has more. Each gets the secrets that it names, and no others. */
const MIGRATION = {
  DATABASE_URL_FILE: '/run/secrets/database-url',
  DATABASE_OWNER_URL_FILE: '/run/secrets/database-owner-url',
  SVC_MASTER_KEY_FILE: '/run/secrets/master-key',
}
const SERVICE = {
  DATABASE_URL_FILE: '/run/secrets/database-url',
  DATABASE_OPERATOR_URL_FILE: '/run/secrets/database-operator-url',
  DATABASE_RAIL_URL_FILE: '/run/secrets/database-rail-url',
  SVC_MASTER_KEY_FILE: '/run/secrets/master-key',
  METRICS_TOKEN_FILE: '/run/secrets/metrics-token',
  UPI_RAIL_KEYS_FILE: '/run/secrets/upi-rail-keys',
  BANK_RAIL_KEYS_FILE: '/run/secrets/bank-rail-keys',
  CARD_RAIL_KEYS_FILE: '/run/secrets/card-rail-keys',
  CONSOLE_SECOND_FACTOR: 'money',
  PORTAL_SECOND_FACTOR: 'money',
  PUBLIC_URL: 'https://pay.example.com',
  TRUST_PROXY: '1',
}

type Environment = Readonly<Record<string, string>>

const asOptions = (env: Environment): string[] =>
  Object.entries(env).map(([name, value]) => `--env=${name}=${value}`)

/** The image, a PostgreSQL with the documented logins, and the container `svc`. */
export interface Container {
  readonly images: Images
  migrate(): Promise<void>
  start(): Promise<void>
  /** Whether the image's health check succeeds. */
  isHealthy(): Promise<boolean>
  /** Runs a command in the container. */
  exec(args: readonly string[], input?: string): Promise<string>
  /** Every file of the container's own layer, with its size and time: first those that Podman creates at the start. */
  ownFiles(): Promise<string[]>
  /** Creates tenants for the conformance kit, as its guide does. Resolves to their credentials. */
  createTenants(): Promise<string>
  close(): Promise<void>
}

/** The database's socket, for users who may not enter its folder. */
async function relay(from: string, to: string): Promise<Server> {
  const server = createServer((client) => {
    const upstream = connect(to)
    for (const [one, other] of [[client, upstream] as const, [upstream, client] as const])
      one.on('error', () => other.destroy()).pipe(other)
  })
  await once(server.listen(from), 'listening')
  await chmod(from, 0o666)
  return server
}

/** Runs the lines of deploy/README.md that make the secrets; returns their folder. The database gets the logins. */
async function makeSecrets(folder: string, database: DatabaseServer): Promise<string> {
  const [block] = await blocksOf('../deploy/README.md', 'sh')
  const script = `sudo() { "$@"; }\n${block!.code}`
  await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], { cwd: folder })
  const secrets = join(folder, 'deploy/secrets')
  const client = await database.connect('postgres')
  const statements = (await readFile(join(secrets, 'logins.sql'), 'utf8')).split(';\n').filter(Boolean)
  for (const statement of statements) await client.query(statement)
  await client.end()
  // The container has no network: a socket in place of the host `postgres`.
  for (const name of await readdir(secrets)) {
    const url = await readFile(join(secrets, name), 'utf8')
    const moved = url.replace('@postgres/svc', '@localhost/svc?host=%2Frun%2Fpostgresql')
    if (name.startsWith('database-')) await writeFile(join(secrets, name), moved)
  }
  return secrets
}

/** Settings, and the secrets that they name. */
const withSecrets = (folder: string, settings: Environment): string[] => [
  ...asOptions(settings),
  ...Object.values(settings)
    .filter((value) => value.startsWith('/run/secrets/'))
    .map((file) => `--volume=${join(folder, basename(file))}:${file}:ro`),
]

/** The guide's lines, with the program of the image in place of the checkout's. */
async function runGuide({ command, folder }: Images): Promise<string> {
  const guide = await blocksOf('guides/conformance.md', 'sh')
  const { code } = guide.find((block) => block.code.includes('admin partner create'))!
  // The guide funds card accounts, by an operator who has set up no authenticator app so far.
  const settings = {
    SVC_OPERATOR: 'asha',
    SVC_OPERATOR_PASSWORD: PASSWORD,
    CONSOLE_SECOND_FACTOR: 'optional',
  }
  const operator = asOptions(settings)
  const exec = [...command, 'exec', '--interactive', ...operator, 'svc', 'node']
  const node = `node() { ${exec.map((word) => `'${word}'`).join(' ')} "$@" < /dev/null; }`
  // Nothing outside reaches the service: the request of the guide is sent inside.
  const send = [
    'const headers = { "content-type": "application/json", "x-svc-console": "1" }',
    'const sent = { method: "POST", headers, body: process.argv.at(-1) }',
    'fetch(process.argv[2], sent).then(async (response) => console.log(await response.text()))',
  ].join('; ')
  const curl = `URL=http://127.0.0.1:8080\ncurl() { node -e '${send}' -- "$@"; }`
  await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', `${node}\n${curl}\n${code}`], { cwd: folder })
  return readFile(join(folder, 'credentials.json'), 'utf8')
}

/** A PostgreSQL whose socket the container gets, and the folder of secrets. */
async function openDatabase(folder: string, undo: (() => unknown)[]) {
  const socket = join(folder, 'socket')
  const database = await DatabaseServer.open(join(folder, 'postgresql'))
  undo.push(() => database.close())
  await mkdir(socket)
  const passage = await relay(join(socket, '.s.PGSQL.5432'), join(database.host, `.s.PGSQL.${database.port}`))
  undo.push(() => passage.close())
  return { secrets: await makeSecrets(folder, database), mount: `--volume=${socket}:/run/postgresql` }
}

/** A program that opens a link as a browser in the container would; there is no network. */
const accepting = (body: object): string => `
  const headers = { 'content-type': 'application/json', 'x-svc-console': '1' }
  const request = { method: 'POST', headers, body: '${JSON.stringify(body)}' }
  const response = await fetch('http://127.0.0.1:8080/console/api/v0/invitation/accept', request)
  if (!response.ok) throw new Error(await response.text())`

export async function openContainer(): Promise<Container> {
  const images = await openImages()
  const undo: (() => unknown)[] = [() => images.close()]
  const close = async () => {
    for (const step of undo.splice(0).reverse()) await step()
  }
  try {
    await buildImage(images)
    const { secrets, mount } = await openDatabase(images.folder, undo)
    const optionsFor = (settings: Environment) => [...OPTIONS, mount, ...withSecrets(secrets, settings)]
    const exec: Container['exec'] = (args, input) =>
      images.podman(['exec', '--interactive', 'svc', ...args], input)
    return {
      images,
      async migrate() {
        await images.podman(['run', '--rm', ...optionsFor(MIGRATION), 'svc', 'admin', 'migrate'])
      },
      async start() {
        await images.podman(['run', '--detach', '--name=svc', ...optionsFor(SERVICE), 'svc'])
      },
      isHealthy: () =>
        images.podman(['healthcheck', 'run', 'svc']).then(
          () => true,
          () => false,
        ),
      exec,
      async ownFiles() {
        const layer = await images.podman(['inspect', '--format', '{{.GraphDriver.Data.UpperDir}}', 'svc'])
        const list = ['-type', 'f', '-printf', '%P %s %T@\\n']
        return (await promisify(execFile)('find', [layer.trim(), ...list])).stdout.split('\n').sort()
      },
      async createTenants() {
        const invite = 'admin operator invite asha --role admin --as-owner --json'
        const settings = optionsFor({ ...SERVICE, ...MIGRATION })
        const invited = await images.podman(['run', '--rm', ...settings, 'svc', ...invite.split(' ')])
        const token = (JSON.parse(invited) as { link: string }).link.split('#')[1]
        await exec(['node', '--input-type=module', '--eval', accepting({ token, password: PASSWORD })])
        return runGuide(images)
      },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}
