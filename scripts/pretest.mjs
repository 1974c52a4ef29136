// Finds what the tests need besides Node packages, installs it where that is allowed, and says what it did.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

/**
 * @param {string} command
 * @param {string[]} args
 */
const works = (command, ...args) => spawnSync(command, args, { stdio: 'ignore' }).error === undefined

const wanted = [
  {
    name: 'chromium-headless-shell',
    isThere: () =>
      [
        process.env.CHROMIUM_PATH,
        '/usr/bin/chromium-headless-shell',
        '/usr/bin/chromium',
        '/usr/bin/chromium-browser',
        '/usr/bin/google-chrome',
      ].some((path) => path && existsSync(path)),
    without: 'the tests of the console in a real browser will be skipped',
  },
  {
    name: 'zbar-tools',
    isThere: () => works('zbarimg', '--version'),
    without: 'the test "an independent scanner (zbar) reads 200 codes with odd names" will be skipped',
  },
]
// People's machines are not filled with a second database server, nor with what other languages encrypt with; CI has them.
if (process.env.CI)
  wanted.push(
    {
      name: 'postgresql-15',
      isThere: () => existsSync('/usr/lib/postgresql/15/bin/postgres'),
      without: 'the service is tested on PostgreSQL 18 only',
    },
    {
      name: 'redis-server',
      isThere: () => works('redis-server', '--version') || works('valkey-server', '--version'),
      without: 'the tests of rate limits that processes share will be skipped',
    },
    {
      name: 'pgbouncer',
      isThere: () => works('pgbouncer', '--version'),
      without: 'the tests of a connection pooler will be skipped',
    },
    {
      name: 'haproxy',
      isThere: () => works('haproxy', '-v'),
      without: 'its files of deploy/ are not checked',
    },
    {
      name: 'nginx-light',
      isThere: () => works('nginx', '-v'),
      without: 'its file of deploy/ is not checked',
    },
    {
      // For promtool, which is in no package of its own.
      name: 'prometheus',
      isThere: () => works('promtool', '--version'),
      without: 'what the alert rules of deploy/ report is not tested',
    },
    {
      name: 'jose',
      isThere: () => works('jose', 'alg'),
      without: 'the guide’s program in shell is not run',
    },
    {
      name: 'jq',
      isThere: () => works('jq', '--version'),
      without: 'the guide’s program in shell is not run',
    },
    {
      name: 'python3-jwcrypto',
      isThere: () => spawnSync('/usr/bin/python3', ['-c', 'import jwcrypto']).status === 0,
      without: 'the guide’s program in Python is not run',
    },
    {
      name: 'php-cli',
      isThere: () => works('php', '--version'),
      without: 'the client, the receiver and the guide’s program in PHP are not run',
    },
    ...['fastapi', 'uvicorn', 'django', 'cryptography'].map((module) => ({
      name: `python3-${module}`,
      isThere: () => spawnSync('/usr/bin/python3', ['-c', `import ${module}`]).status === 0,
      without: 'a client or a receiver in Python is not run',
    })),
  )
/** Too large to be installed for a run of the tests. */
if (!works('javac', '-version'))
  console.log(
    'openjdk-17-jdk-headless is not installed: the client, the receiver and the guide’s program in Java are not run.',
  )

const missing = () => wanted.filter(({ isThere }) => !isThere())
const names = missing().map(({ name }) => name)
if (
  names.length > 0 &&
  process.platform === 'linux' &&
  process.getuid?.() === 0 &&
  works('apt-get', '--version')
) {
  console.log(`Installing ${names.join(' and ')} for the tests …`)
  // RUNLEVEL: no server is started because it is installed.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' }
  /**
   * Waits for another apt, such as that of a machine's daily upgrade.
   * @param {string[]} args
   */
  const apt = (...args) =>
    spawnSync('apt-get', ['-qq', '-o', 'DPkg::Lock::Timeout=300', ...args], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env,
    })
  apt('update')
  // All at once, for the seconds that each call takes; one by one where a package is not to be had.
  apt('install', '-y', '--no-install-recommends', ...names)
  for (const { name } of missing()) apt('install', '-y', '--no-install-recommends', name)
}
for (const { name, without } of missing())
  console.log(
    `${name} is not installed: ${without}.${works('apt-get', '--version') ? ` To have it: sudo apt-get install ${name}` : ''}`,
  )
