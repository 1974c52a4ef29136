import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './sources.ts'

/** Copies these parts of the repository. Its packages are those of the copy, all others the installed ones. */
export function copyCheckout(copy: string, parts: readonly string[]): void {
  for (const part of parts) cpSync(join(ROOT, part), join(copy, part), { recursive: true })
  const modules = join(copy, 'node_modules')
  mkdirSync(join(modules, '@svc'), { recursive: true })
  for (const name of readdirSync(join(ROOT, 'node_modules')))
    if (name !== '@svc') symlinkSync(join(ROOT, 'node_modules', name), join(modules, name))
  for (const name of readdirSync(join(ROOT, 'packages')))
    symlinkSync(join(copy, 'packages', name), join(modules, '@svc', name))
}

/** Copies all that is tracked and what was built of it, so that only what is changed in the copy is built again. */
export function copyEverything(copy: string): void {
  const tracked = execFileSync('git', ['ls-tree', '--name-only', 'HEAD'], { cwd: ROOT, encoding: 'utf8' })
  const parts = [...tracked.trim().split('\n'), 'dist']
  copyCheckout(
    copy,
    parts.filter((part) => existsSync(join(ROOT, part))),
  )
}
