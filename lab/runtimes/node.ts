import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ROOT } from '../../test/harness/sources.ts'

const run = promisify(execFile)

export const PLATFORM = `${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
export const NODE_VERSIONS = ['20.20.2', '22.23.3', '24.21.0', '26.10.0'] as const
export const nodePackage = { packageName: `node-${PLATFORM}`, binary: 'bin/node' }

interface Program {
  /** The npm package for this machine, and the program in it. */
  readonly packageName: string
  readonly version: string
  readonly binary: string
}

/** The runtime's program, installed beside those of earlier runs. */
export async function installRuntime({ packageName, version, binary }: Program): Promise<string> {
  const folder = join(ROOT, 'node_modules/.cache/svc-runtimes', `${packageName.replace('/', '-')}-${version}`)
  const program = join(folder, 'node_modules', packageName, binary)
  if (existsSync(program)) return program
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'package.json'), '{"private":true}')
  const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', `${packageName}@${version}`]
  await run('npm', args, { cwd: folder })
  return program
}

/** Node of a major version, such as 24. */
export function installNode(major: string): Promise<string> {
  const version = NODE_VERSIONS.find((known) => known.startsWith(`${major}.`))
  if (!version)
    throw new Error(`Node ${major} is not among those that are tested: ${NODE_VERSIONS.join(', ')}`)
  return installRuntime({ ...nodePackage, version })
}
