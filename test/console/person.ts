import { readFile } from 'node:fs/promises'
import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { newOperator, PASSWORD } from '../harness/console.ts'
import type { Bed } from './bed.ts'

/** An area or a place in the menu, whose name may end with how much waits there. */
export const inMenu = (page: Page, name: string): Locator =>
  page
    .getByRole('navigation', { name: 'Places' })
    .getByRole('link', { name: new RegExp(`^${name}(?: ?\\d+ waiting)?$`) })

/** Somebody with a task, whose actions are counted: a click, a paste, a typed field, Enter. */
export class Person {
  readonly page: Page
  actions = 0

  constructor(page: Page) {
    this.page = page
  }

  async click(what: Locator): Promise<void> {
    this.actions += 1
    await what.click()
  }

  async type(field: Locator, text: string): Promise<void> {
    this.actions += 1
    await field.fill(text)
  }

  /** Pastes where nothing has the focus, and presses Enter. */
  async pasteAndEnter(text: string): Promise<void> {
    this.actions += 2
    await this.page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`)
    await this.page.keyboard.press('Control+V')
    await expect.poll(() => this.page.getByRole('searchbox').inputValue()).toBe(text)
    await this.page.keyboard.press('Enter')
  }

  /** Clicks what downloads a file. */
  async download(what: Locator): Promise<{ readonly name: string; readonly text: string }> {
    const [file] = await Promise.all([this.page.waitForEvent('download'), this.click(what)])
    return { name: file.suggestedFilename(), text: await readFile(await file.path(), 'latin1') }
  }

  /** Goes through the menu: an area, then a place in it. */
  async place(...names: string[]): Promise<void> {
    for (const name of names) await this.click(inMenu(this.page, name))
  }

  link(name: string | RegExp): Locator {
    return this.page.getByRole('main').getByRole('link', { name, exact: true })
  }

  button(name: string | RegExp): Locator {
    return this.page.getByRole('button', { name, exact: true })
  }

  inDialog(name: string): Locator {
    return this.page.getByRole('dialog').getByRole('button', { name, exact: true })
  }

  field(name: string): Locator {
    return this.page.getByRole('dialog').getByLabel(name)
  }

  /** How many actions it took since the last time. */
  took(): number {
    const { actions } = this
    this.actions = 0
    return actions
  }
}

type Role = Parameters<typeof newOperator>[1]

/** `expected`: failed calls that the person causes on purpose. */
export async function at(
  bed: Bed,
  role: Role,
  expected: readonly RegExp[] = [/409/],
): Promise<Person & { readonly name: string }> {
  const { name } = await newOperator(bed.service, role)
  const page = await bed.visit({ as: { name, password: PASSWORD }, expected })
  return Object.assign(new Person(page), { name })
}

export async function fromOverview(person: Person): Promise<void> {
  await person.page.goto('/console/')
  await person.page.getByRole('heading', { level: 1, name: 'Home' }).waitFor()
  person.took()
}
