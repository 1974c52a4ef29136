import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describeError } from '@svc/cli/report-error'
import { ConfigError, readConfig, SETTINGS } from '@svc/contract/config'
import { FAILURES } from '@svc/contract/errors'
import { PROCESS_ROLES } from '@svc/contract/process-settings'
import { countConnections } from '@svc/platform/db/connection-gauges'
import { partitionGauges } from '@svc/platform/db/partitions'
import { countReplicaReads, type Replica } from '@svc/platform/db/replica'
import { backlogGauges, certificateExpiry, clockSkew, countRoles, openMetrics } from '@svc/platform/metrics'
import { OPERATIONS } from '@svc/server/operations'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const DEPLOY = fileURLToPath(new URL('../../deploy', import.meta.url))
const textOf = (file: string) => readFileSync(join(DEPLOY, file), 'utf8')
const files = readdirSync(DEPLOY, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name).slice(DEPLOY.length + 1))

const isInstalled = (program: string): boolean =>
  spawnSync('sh', ['-c', `command -v ${program}`]).status === 0

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-deploy-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function metricNames(): Promise<Set<string>> {
  const { registry, text } = openMetrics(new Set())
  countRoles(registry, PROCESS_ROLES)
  certificateExpiry(registry)
  clockSkew(registry)
  partitionGauges(registry)
  backlogGauges(registry)
  countConnections(registry, { pools: () => [] })
  countReplicaReads(registry, { reads: { replica: 0, behind: 0, unavailable: 0 } } as unknown as Replica)
  const names = [...(await text()).matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = '', type]) =>
    type === 'histogram' ? [name, `${name}_bucket`, `${name}_count`, `${name}_sum`] : [name],
  )
  return new Set(names)
}

test.each(['prometheus/alerts.yaml', 'grafana/svc.json'])(
  '%s names metrics that exist, and no others',
  async (file) => {
    const known = await metricNames()
    const named = textOf(file).match(/\bsvc_[a-z_]+\b/g) ?? []
    expect(named.length).toBeGreaterThan(5)
    expect(named.filter((name) => !known.has(name))).toEqual([])
  },
)

test('alert rules query error codes that exist', () => {
  const usedCodes = [...textOf('prometheus/alerts.yaml').matchAll(/error=~?"([^"]+)"/g)].flatMap(
    ([, codes]) => codes!.split('|'),
  )
  expect(usedCodes.length).toBeGreaterThan(2)
  expect(usedCodes.filter((code) => !(code in FAILURES))).toEqual([])
})

test('alert rules and the dashboard exclude operations that exist', () => {
  const ids = new Set(OPERATIONS.map(({ id }) => id))
  for (const file of ['prometheus/alerts.yaml', 'grafana/svc.json']) {
    const left = [...textOf(file).matchAll(/operation![=~]\\?"([a-zA-Z|]+)/g)].flatMap(([, names]) =>
      names!.split('|'),
    )
    expect(left.length).toBeGreaterThan(3)
    expect(left.filter((name) => !ids.has(name))).toEqual([])
  }
})

test('HAProxy detects that a process is draining while it still serves, with a second to spare', () => {
  const [, seconds, times] =
    /inter (\d+)s fall (\d+) rise \d+ resolvers/.exec(textOf('haproxy/svc.cfg')) ?? []
  const { DRAIN_DELAY_MS } = readConfig({})
  expect(Number(seconds) * Number(times) * 1_000).toBeLessThanOrEqual(DRAIN_DELAY_MS - 1_000)
})

test('every setting that a file of deploy/ sets exists, and only secrets are given by a file', () => {
  const given = files.flatMap((file) =>
    [
      ...textOf(file).matchAll(
        /\b((?:SVC|DATABASE|METRICS|UPI|BANK|CARD|CONSOLE|PORTAL|TLS|PUBLIC|TRUST|DATA|RATE)_[A-Z_]+)(?==|:\s)/g,
      ),
    ].map(([, name]) => [file, name!] as const),
  )
  expect(given.length).toBeGreaterThan(20)
  for (const [file, name] of given) {
    const setting = Object.entries(SETTINGS).find(([known]) => known === name || `${known}_FILE` === name)
    expect(setting, `${file}: ${name}`).toBeDefined()
    if (setting![0] !== name) expect('secret' in setting![1], `${file}: ${name}`).toBe(true)
  }
})

test.each(['compose.yaml', 'compose.three-nodes.yaml', 'systemd/svc.service'])(
  '%s sets the keys of every rail, and requires a second factor from those who move money',
  (file) => {
    const given = [...textOf(file).matchAll(/\b([A-Z_]+)[:=] ?(\S+)$/gm)].map(([, name, value]) => [
      name,
      value,
    ])
    const settings: Record<string, string> = Object.fromEntries(given)
    for (const rail of ['upi', 'bank', 'card'])
      expect(settings[`${rail.toUpperCase()}_RAIL_KEYS_FILE`]).toMatch(new RegExp(`/${rail}-rail-keys$`))
    expect(settings).toMatchObject({ CONSOLE_SECOND_FACTOR: 'money', PORTAL_SECOND_FACTOR: 'money' })
  },
)

test('systemd restarts the service until the database is back, however often, and not with invalid settings', () => {
  const [unit = '', service = ''] = textOf('systemd/svc.service').split('[Service]')
  expect(unit).toMatch(/^StartLimitIntervalSec=0$/m)
  expect(service).toMatch(/^Restart=always$/m)
  const { exitCode } = describeError(new ConfigError(['PORT must be a whole number']), false)
  expect(exitCode).not.toBe(describeError(new Error('the database is down'), false).exitCode)
  expect(service).toMatch(new RegExp(`^RestartPreventExitStatus=${exitCode}$`, 'm'))
  for (const file of ['compose.yaml', 'compose.three-nodes.yaml'])
    expect(textOf(file)).toMatch(/^ +restart: unless-stopped$/m)
})

const USE_SECRETS = files.filter((file) => /^(?:compose.*\.yaml|systemd\/.*\.service)$/.test(file))

test.each(USE_SECRETS)('%s has each secret that its settings read, and the README creates it', (file) => {
  const named = (pattern: RegExp) => [...textOf(file).matchAll(pattern)].map(([, name]) => name!)
  const read = named(/_FILE[:=] ?(?:\/run\/secrets|%d)\/([a-z-]+)$/gm)
  const there = [
    ...named(/^LoadCredential=([a-z-]+):\/etc\/svc\/secrets\/\1$/gm),
    ...named(/^ {2}([a-z-]+): \{ file: \.\/secrets\/\1 \}$/gm),
  ]
  expect(read.length).toBeGreaterThan(2)
  expect(there).toEqual(expect.arrayContaining(read))
  for (const name of there) expect(textOf('README.md')).toMatch(new RegExp(`> ${name}$`, 'm'))
})

test.each(['compose.yaml', 'compose.three-nodes.yaml'])(
  '%s gives each container the secrets that its settings read',
  (file) => {
    const text = textOf(file)
    const [, shared = ''] = /&environment\n((?: {6}.+\n)+)/.exec(text) ?? []
    const read = text
      .replace('<<: *environment\n', () => shared.trimStart())
      .split(/^(?=\S| {2}(?!environment|secrets)[a-z]+:\n)/m)
      .flatMap((container) => {
        const [given = ''] = /^ +secrets:(?: \[.*\]|(?:\n +- [a-z-]+)+)/m.exec(container) ?? []
        const names = given.match(/[a-z][a-z-]+/g)
        return [...container.matchAll(/\/run\/secrets\/([a-z-]+)/g)].map(([, name]) => ({ name, names }))
      })
    expect(read.length).toBeGreaterThan(10)
    for (const { name, names } of read) expect(names).toContain(name)
  },
)

test.each([
  ['compose.yaml', 'compose.yaml', /&environment\n((?: {6}.+\n)+)/, '<<: *environment'],
  ['compose.three-nodes.yaml', 'compose.three-nodes.yaml', /&rules\n((?: {2}.+\n)+)/, '<<: *rules'],
  ['kubernetes/migrate.yaml', 'kubernetes/svc.yaml', /kind: ConfigMap\n([\s\S]*?)\n---/, 'name: svc-rules'],
] as const)(
  'with %s the migrations and the processes have the same of what the database checks by',
  (migrations, processes, shared, used) => {
    const said = (text: string) => text.match(/^ +(?:BUSINESS|GST|APPROVAL|APPROVER)_\w+:.*$/gm) ?? []
    const both = migrations === processes ? [migrations] : [migrations, processes]
    const [, block = ''] = shared.exec(textOf(migrations)) ?? []
    expect(said(block).length).toBeGreaterThan(0)
    expect(both.flatMap((file) => said(textOf(file)))).toEqual(said(block))
    for (const file of both) expect(textOf(file)).toContain(used)
  },
)

/** The deployments of Kubernetes, each with what it sets, anchors included. */
const deployments = () => {
  const text = textOf('kubernetes/svc.yaml')
  const [, shared = ''] = /kind: ConfigMap\n([\s\S]*?)\n\n/.exec(text) ?? []
  const [, operators = ''] = /volumes: &operators\n([\s\S]*?)\n\n/.exec(text) ?? []
  return text.split(/^ {2}- apiVersion/m).flatMap((item) => {
    const [, roles] = /name: ROLES, value: ([a-z,]+)/.exec(item) ?? []
    return roles === undefined
      ? []
      : [{ roles, text: `${shared}${item}${item.includes('*operators') ? operators : ''}` }]
  })
}

describe('kubernetes', () => {
  test('the deployments have each role once', () => {
    expect(
      deployments()
        .map(({ roles }) => roles)
        .sort(),
    ).toEqual([...PROCESS_ROLES].sort())
  })

  test('each deployment has the secrets that its settings read, which the README creates, and the API no login of operators', () => {
    const found = [...deployments(), { roles: 'migrate', text: textOf('kubernetes/migrate.yaml') }]
    for (const { roles, text } of found) {
      const read = [...text.matchAll(/_FILE(?::|, value:) \/run\/secrets\/([a-z-]+)/g)].map(
        ([, name]) => name!,
      )
      const there = [...text.matchAll(/key: ([a-z-]+), path: \1 /g)].map(([, name]) => name!)
      expect(read.length, roles).toBeGreaterThan(2)
      expect(there, roles).toEqual(expect.arrayContaining(read))
      for (const name of read) expect(textOf('README.md')).toMatch(new RegExp(`> ${name}$`, 'm'))
      if (roles === 'api') expect(there).not.toContain('database-operator-url')
    }
  })

  test.skipIf(!isInstalled('kubectl'))('the manifests are read, and name one another', () => {
    const manifests = join(DEPLOY, 'kubernetes')
    const { status, stdout, stderr } = spawnSync('kubectl', ['kustomize', manifests], { encoding: 'utf8' })
    expect(status, stderr).toBe(0)
    const images = new Set([...stdout.matchAll(/image: (\S+)/g)].map(([, name]) => name))
    expect([...images]).toEqual(['registry.example.com/svc'])
    const objects = stdout.split(/^---$/m)
    const kinds = objects.map((object) => /^kind: (\w+)$/m.exec(object)![1])
    expect(kinds.filter((kind) => kind === 'Deployment')).toHaveLength(3)
    expect(kinds).toContain('PodDisruptionBudget')
    for (const { roles } of deployments()) {
      const object = objects.find(
        (each) => each.includes(`name: svc-${roles}\n`) && each.includes('replicas:'),
      )
      for (const part of [
        'terminationGracePeriodSeconds: 40',
        'path: /readyz',
        'readOnlyRootFilesystem: true',
      ])
        expect([roles, object]).toEqual([roles, expect.stringContaining(part)])
    }
    const services = [...stdout.matchAll(/service:\n +name: (\S+)/g)].map(([, name]) => name)
    expect([...new Set(services)].sort()).toEqual(['svc-api', 'svc-console'])
  })
})

test.each(['.gitignore', '.dockerignore'])('%s omits what contains secrets of an installation', (file) => {
  const left = textOf(`../${file}`)
    .split('\n')
    .map((line) => line.replace(/\/$/, ''))
  // The data directory, and the folder that deploy/README.md fills.
  expect(left).toEqual(expect.arrayContaining(['data', 'deploy/secrets']))
})

test('the dashboard is JSON whose panels all have a query', () => {
  const { panels } = JSON.parse(textOf('grafana/svc.json')) as { panels: { targets: { expr: string }[] }[] }
  for (const { targets } of panels) expect(targets.every(({ expr }) => expr.length > 0)).toBe(true)
})

/** Their expectations are in the file that promtool reads. */
test.skipIf(!isInstalled('promtool'))(
  'alert rules report a database that is down, a process that is not ready, callers that get 503 or wait, the first internal error, a loop that is overdue by its own interval or without a success, and a rate limit store that all processes lost',
  () => {
    const file = fileURLToPath(new URL('alerts.promtool.yaml', import.meta.url))
    const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' })
    expect(status, `${stdout}${stderr}`).toBe(0)
  },
)

describe('programs accept their files', () => {
  test.skipIf(!isInstalled('systemd-analyze')).each(['svc.service', 'svc-migrate.service'])('%s', (name) => {
    const unit = join(folder, name)
    // The program lies elsewhere on this machine.
    writeFileSync(unit, textOf(`systemd/${name}`).replaceAll('/usr/bin/node', process.execPath))
    const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', unit], {
      encoding: 'utf8',
    })
    // Complaints about units of this machine are none of ours.
    const ours = `${stdout}${stderr}`.split('\n').filter((line) => line.includes(name))
    expect([status === null, ours]).toEqual([false, []])
  })

  const withCertificate = (): string => {
    const [key, cert, both] = ['key.pem', 'cert.pem', 'tls.pem'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ]
    const request = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=svc'
    execFileSync('openssl', [...request.split(' '), '-keyout', key, '-out', cert], { stdio: 'ignore' })
    writeFileSync(both, readFileSync(cert, 'utf8') + readFileSync(key, 'utf8'))
    return both
  }

  /** With the maps that the file names, empty. */
  const withMaps = (config: string): string => {
    for (const [, name] of config.matchAll(/\/etc\/haproxy\/maps\/(\w+\.map)/g))
      writeFileSync(join(folder, name!), '')
    return config.replaceAll('/etc/haproxy/maps', folder)
  }

  test
    .skipIf(!isInstalled('haproxy'))
    .each(['haproxy/svc.cfg', 'haproxy/cells.cfg', 'haproxy/postgresql.cfg'])('%s', (file) => {
    const config = join(folder, 'haproxy.cfg')
    writeFileSync(config, withMaps(textOf(file).replace('/etc/haproxy/tls.pem', withCertificate())))
    const { status, stderr } = spawnSync('haproxy', ['-c', '-f', config], { encoding: 'utf8' })
    expect(status, stderr).toBe(0)
  })

  test.skipIf(!isInstalled('nginx'))('nginx', () => {
    withCertificate()
    const config = join(folder, 'nginx.conf')
    const site = textOf('nginx/svc.conf')
      .replace('/etc/svc/tls/fullchain.pem', join(folder, 'cert.pem'))
      .replace('/etc/svc/tls/privkey.pem', join(folder, 'key.pem'))
    writeFileSync(
      config,
      `pid ${folder}/pid; error_log stderr;\nevents {}\nhttp {\naccess_log off;\n${site}\n}\n`,
    )
    const { status, stderr } = spawnSync('nginx', ['-t', '-c', config, '-p', folder], { encoding: 'utf8' })
    expect(status, stderr).toBe(0)
  })
})
