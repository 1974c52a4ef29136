import { existsSync, fstatSync, readdirSync, readFileSync } from 'node:fs'
import {
  type FileHandle,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { keyProviderOf } from '@svc/app/key-provider'
import { readConfig } from '@svc/contract/config'
import { createWhole, writeWhole } from '@svc/platform/write-whole'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'

const TRIES = 100
const MAKERS = 4
const OWNER_ONLY = 0o600

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-whole-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

/** What a reader finds in the file at each turn of the event loop, once there is one, until `work` is over. */
async function contentsDuring(file: string, work: Promise<unknown>): Promise<string[]> {
  let isOver = false
  const stop = () => {
    isOver = true
  }
  work.then(stop, stop)
  const found = new Set<string>()
  const look = () => existsSync(file) && found.add(readFileSync(file, 'utf8'))
  for (; !isOver; await new Promise(setImmediate)) look()
  look()
  return [...found]
}

test('concurrent creations of the sandbox’s new master key all read the same whole key, and leave nothing beside it', async () => {
  for (let i = 0; i < TRIES; i++) {
    const DATA_DIR = join(folder, String(i))
    const file = join(DATA_DIR, 'master.key')
    const makers = Array.from({ length: MAKERS }, () => keyProviderOf(readConfig({ DATA_DIR })))
    const making = Promise.all(makers.map((maker) => maker.masterKeys()))
    const found = await contentsDuring(file, making)
    const keys = (await making).flat().map((key) => key.reveal())
    expect(keys).toEqual(keys.map(() => keys[0]))
    expect(Buffer.from(keys[0]!, 'base64')).toHaveLength(32)
    expect(found).toEqual([`${keys[0]}\n`])
    expect(await readdir(DATA_DIR)).toEqual(['master.key'])
    expect((await stat(file)).mode & 0o777).toBe(OWNER_ONLY)
  }
})

test('an existing file is not created again', async () => {
  const file = join(folder, 'file')
  await writeFile(file, 'first')
  await createWhole(file, 'second')
  expect(await readFile(file, 'utf8')).toBe('first')
  expect(await readdir(folder)).toEqual(['file'])
})

test('a file that cannot be written leaves no part of it', async () => {
  const taken = join(folder, 'folder')
  await mkdir(join(taken, 'inside'), { recursive: true })
  await expect(writeWhole(taken, 'text')).rejects.toThrow()
  expect(await readdir(folder)).toEqual(['folder'])
})

test('a written file replaces the old one whole, and only its owner can read it', async () => {
  const file = join(folder, 'new', 'file')
  await writeWhole(file, 'the first, which is longer')
  await writeWhole(file, 'second')
  expect(await readFile(file, 'utf8')).toBe('second')
  expect((await stat(file)).mode & 0o777).toBe(OWNER_ONLY)
  expect(await readdir(join(folder, 'new'))).toEqual(['file'])
})

/** Notes at each sync what is synced, and what the folder shows at that moment. */
async function noteSyncs(): Promise<string[]> {
  const handle = await open(folder)
  const prototype = Object.getPrototypeOf(handle) as FileHandle
  await handle.close()
  const { sync } = prototype
  const synced: string[] = []
  const spy = vi.spyOn(prototype, 'sync').mockImplementation(function (this: FileHandle) {
    const file = join(folder, 'file')
    const what = fstatSync(this.fd).isDirectory() ? 'folder' : 'file'
    const shown = existsSync(file) ? readFileSync(file, 'utf8') : 'nothing'
    synced.push(`${what}: ${shown}, ${readdirSync(folder).length} in it`)
    return sync.call(this)
  })
  onTestFinished(() => spy.mockRestore())
  return synced
}

test('a file is on the disk before it has its name, and its name before the call returns', async () => {
  const file = join(folder, 'file')
  const synced = await noteSyncs()
  await createWhole(file, 'first')
  expect(synced.splice(0)).toEqual(['file: nothing, 1 in it', 'folder: first, 1 in it'])
  await writeWhole(file, 'second')
  expect(synced).toEqual(['file: first, 2 in it', 'folder: second, 1 in it'])
})
