import { addBankHolidays, removeBankHoliday } from '@svc/core/ledger/bank-holidays'
import { dayAfter } from '@svc/kernel/bank-days'
import type { TestService } from './service.ts'

/** Closes the banks from a day on for so many days; returns what opens them again. */
export async function closeBanks(
  { app }: TestService,
  from: string,
  days: number,
): Promise<() => Promise<void>> {
  const holidays = Array.from({ length: days }, (_, i) => ({ day: dayAfter(from, i), name: 'strike' }))
  const { database } = app.services
  await database.operate((tx) => addBankHolidays(tx, holidays, 'operator tests'))
  return () =>
    database.operate(async (tx) => {
      for (const { day } of holidays) await removeBankHoliday(tx, day)
    })
}

/** Does something while banks are closed on a day on which they would be open. */
export async function onHoliday(on: TestService, day: string, work: () => Promise<void>): Promise<void> {
  const open = await closeBanks(on, day, 1)
  try {
    await work()
  } finally {
    await open()
  }
}
