import { join } from 'node:path'
import { ROOT } from './server-process.ts'

const FOLDER = join(ROOT, 'lab/bench')

/** A server of lab/bench/peers, which finds its packages in lab/bench/node_modules. */
export const peer = (file: string): { args: string[]; cwd: string } => ({
  args: [join(FOLDER, 'peers', file)],
  cwd: FOLDER,
})

/** A program of a package in lab/bench/node_modules. */
export const peerProgram = (...path: string[]): string => join(FOLDER, 'node_modules', ...path)
