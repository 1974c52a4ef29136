import { formatRupees, paise } from '@svc/kernel/money'
import { Type } from 'typebox'
import { type BatchCounts, BatchRecord, batchToWire, type SettlementBatch } from './batch.ts'

export const SettlementBatchRecord = Type.Object({
  ...BatchRecord.properties,
  rail: Type.Enum(['upi', 'card']),
  valueDate: Type.String({ description: 'Day of the transfer, `YYYY-MM-DD`' }),
  netAmount: Type.String({ description: 'Rupees with two decimals; below zero it left our account' }),
})

/** A transfer as operators see it. */
export const settlementBatchToWire = (batch: SettlementBatch, counts: BatchCounts) => ({
  ...batchToWire(batch, counts),
  rail: batch.rail,
  valueDate: batch.valueDate,
  netAmount: formatRupees(batch.netPaise ?? paise(batch.linesPaise)),
})
