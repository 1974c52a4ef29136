import { orList } from '@svc/kernel/lists'
import { formatRupees, type Paise } from '@svc/kernel/money'
import type { BankResponse } from '../../bank-files/response-rows.ts'
import type { Became } from './bank-run.ts'

/** Nothing is left to do. */
export const done = (result: string): Became => ({ result, isDone: true })
/** A person has to look at it. */
export const left = (result: string): Became => ({ result, isDone: false })

export const WAITS = left('waits for a second person')

/** Nothing is recorded of a word that is none of the outcomes'. */
export const notNamed = (
  { word }: BankResponse,
  { outcomes }: { readonly outcomes: Readonly<Record<string, unknown>> },
): Became => left(`nothing recorded: ${JSON.stringify(word)} is no word for ${orList(Object.keys(outcomes))}`)

/** A response that states another amount than what was sent is of something else. */
export const otherAmount = (
  { amountPaise: stated }: BankResponse,
  amountPaise: Paise | bigint,
): Became | undefined =>
  stated === undefined || stated === amountPaise
    ? undefined
    : left(
        `nothing recorded: the bank states ${formatRupees(stated)}, and it is ${formatRupees(amountPaise)}`,
      )
