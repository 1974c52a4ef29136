import type { ReactNode } from 'react'
import { asCallFailed } from './failure.ts'
import { type FormKey, newFormKey } from './form-key.ts'

/** Something that is done with each of several rows of a list, by the command that does it with one. */
export interface BulkAction<Row> {
  readonly label: string
  /** On the button that begins it. */
  readonly confirm: string
  readonly danger?: boolean
  /** What happens to the rows, and whether it can be undone. */
  readonly says: ReactNode
  /** Asked once for all rows. */
  readonly text?: { readonly label: string; readonly maxLength: number }
  /** Rows of another state are left out. */
  readonly applies: (row: Row) => boolean
  /** What a row is called in the results. */
  readonly nameOf: (row: Row) => string
  /** `key`: the `Idempotency-Key`, the same when it is tried again. */
  readonly run: (row: Row, text: string, key: FormKey) => Promise<unknown>
  /** Takes back what was done with a row. */
  readonly undo?: (row: Row, key: FormKey) => Promise<unknown>
  /** Loads again what was changed. */
  readonly changed: () => Promise<unknown>
}

/** How far one row is. */
export type ItemState =
  | { readonly state: 'waiting' | 'running' | 'done' }
  | { readonly state: 'failed'; readonly reason: string }

export interface BulkItem<Row> {
  readonly row: Row
  readonly key: FormKey
  readonly state: ItemState
}

export const itemsOf = <Row>(rows: readonly Row[]): BulkItem<Row>[] =>
  rows.map((row) => ({ row, key: newFormKey(), state: { state: 'waiting' } }))

const AT_ONCE = 4

/**
 * Runs the items that are not done, some at a time; `report` gets each change. A failure is the item's own, and the
 * others go on, unless it is for want of a recent sign-in. An item that is run again has the same key, so a response that was lost does nothing twice.
 */
export async function runItems<Row>(
  items: readonly BulkItem<Row>[],
  run: (item: BulkItem<Row>) => Promise<unknown>,
  report: (key: string, state: ItemState) => void,
): Promise<void> {
  const waiting = items.filter(({ state }) => state.state !== 'done')
  const work = async () => {
    for (let item = waiting.shift(); item; item = waiting.shift()) {
      report(item.key, { state: 'running' })
      try {
        await run(item)
        report(item.key, { state: 'done' })
      } catch (error) {
        const { message: reason, code } = asCallFailed(error)
        // A person who cancels the confirmation is not asked again for each row.
        const failed = code === 'step_up_required' ? [item, ...waiting.splice(0)] : [item]
        for (const { key } of failed) report(key, { state: 'failed', reason })
      }
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
}
