import { execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { installNode } from '../../lab/runtimes/node.ts'
import { works } from './guides.ts'
import { ROOT } from './sources.ts'

const run = promisify(execFile)
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024

/** What the steps of the Containerfile run: Debian's own packages, as in the image that it names. */
const PACKAGES = ['base-files', 'coreutils', 'dash', 'libstdc++6']
const CERTIFICATES = 'etc/ssl/certs/ca-certificates.crt'
/** Of npm, while an image is built. */
const CACHE = '/var/cache/npm'
const PROGRAMS = ['podman', 'crun', 'mmdebstrap', 'unshare', 'nsenter', 'jq', 'openssl']

/** Why no image can be built here, or an empty text. */
export function whyNoImage(): string {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'root on Linux is needed'
  const missing = PROGRAMS.filter((program) => !works('sh', '-c', `command -v ${program}`))
  return missing.length === 0 ? '' : `not installed: ${missing.join(', ')}`
}

/** Podman with a store and a mount namespace of its own. */
export interface Images {
  readonly folder: string
  /** The program and its first arguments, for a shell. */
  readonly command: readonly string[]
  podman(args: readonly string[], input?: string): Promise<string>
  /** Makes the base image that a Containerfile names, without a registry: Debian packages, Node and npm. */
  importBase(name: string): Promise<void>
  close(): Promise<void>
}

/** crun refuses cgroups of both versions at once; what is unmounted here stays mounted for everyone else. */
const HOLD = 'umount /sys/fs/cgroup/unified 2> /dev/null; echo ready; exec cat'

export async function openImages(): Promise<Images> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-image-'))
  const holder = spawn('unshare', ['--mount', '--propagation', 'private', 'sh', '-c', HOLD], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  await once(holder.stdout, 'data')
  const store = ['--root', join(folder, 'store'), '--runroot', join(folder, 'run')]
  const quiet = ['--cgroup-manager', 'cgroupfs', '--events-backend', 'file', '--log-level', 'error']
  const entered = ['nsenter', '--target', String(holder.pid), '--mount', `--wd=${ROOT}`]
  const command = [...entered, 'podman', ...store, ...quiet]
  const podman: Images['podman'] = async (args, input) => {
    const [program = '', ...first] = command
    const began = run(program, [...first, ...args], { maxBuffer: OUTPUT_BYTES_MAX })
    began.child.stdin!.end(input)
    return (await began).stdout
  }
  return {
    folder,
    command,
    podman,
    async importBase(name) {
      const tarball = join(folder, 'base.tar')
      await makeRoot(join(folder, 'base'), name, tarball)
      await podman(['import', '--quiet', tarball, name])
      await rm(tarball)
    },
    async close() {
      await podman(['rm', '--all', '--force', '--time', '0'])
      holder.stdin.end()
      await once(holder, 'exit')
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** The root file system of a base image: Node of the version that its tag asks for, npm as it is on this machine. */
async function makeRoot(folder: string, name: string, tarball: string): Promise<void> {
  const [, major, suite] = /\/node:(\d+)[\d.]*-(\w+)-slim$/.exec(name) ?? []
  if (!major || !suite) throw new Error(`${name} is not an image of Node on Debian`)
  const options = ['--quiet', '--mode=root', '--variant=extract', `--include=${PACKAGES.join()}`]
  await run('mmdebstrap', [...options, suite, folder])
  const local = join(folder, 'usr/local')
  await mkdir(join(local, 'bin'), { recursive: true })
  await cp(await installNode(major), join(local, 'bin/node'))
  const modules = execFileSync('npm', ['root', '--global'], { encoding: 'utf8' }).trim()
  await cp(join(modules, 'npm'), join(local, 'lib/node_modules/npm'), { recursive: true })
  await symlink('../lib/node_modules/npm/bin/npm-cli.js', join(local, 'bin/npm'))
  const registry = execFileSync('npm', ['config', 'get', 'registry'], { cwd: ROOT, encoding: 'utf8' })
  await mkdir(join(local, 'etc'), { recursive: true })
  // Whom this machine trusts, and where it installs from; its cache, which `npm ci` has filled, is read first.
  await mkdir(join(folder, 'etc/ssl/certs'), { recursive: true })
  await cp(process.env['NODE_EXTRA_CA_CERTS'] ?? `/${CERTIFICATES}`, join(folder, CERTIFICATES))
  const npmrc = [
    `registry=${registry.trim()}`,
    'prefer-offline=true',
    `cache=${CACHE}`,
    `cafile=/${CERTIFICATES}`,
  ]
  await writeFile(join(local, 'etc/npmrc'), `${npmrc.join('\n')}\n`)
  await run('tar', ['-C', folder, '-cf', tarball, '.'])
  await rm(folder, { recursive: true })
}

/** Builds deploy/Containerfile as it is, under the name `svc`. */
export async function buildImage({ podman, importBase }: Images): Promise<void> {
  const file = join(ROOT, 'deploy/Containerfile')
  const bases = [...(await readFile(file, 'utf8')).matchAll(/^FROM (\S+)/gm)].map(([, name]) => name!)
  for (const name of new Set(bases)) await importBase(name)
  const cache = execFileSync('npm', ['config', 'get', 'cache'], { cwd: ROOT, encoding: 'utf8' }).trim()
  await mkdir(cache, { recursive: true })
  // As many as this process may have: npm opens more files at once than a builder allows by default.
  const files = execFileSync('sh', ['-c', 'ulimit -Hn'], { encoding: 'utf8' }).trim()
  const place = [
    // In a chroot, since this machine may itself be a container.
    '--isolation=chroot',
    '--network=host',
    '--pull=never',
    `--ulimit=nofile=${files}:${files}`,
    `--volume=${cache}:${CACHE}:O`,
  ]
  await podman(['build', '--quiet', '--format', 'docker', ...place, '-f', file, '-t', 'svc', ROOT])
}
