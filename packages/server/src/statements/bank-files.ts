import { BANK_FILE_KINDS, bankFiles, type KeptFile } from '@svc/core/bank-files/kept-files'
import { formatRupees } from '@svc/kernel/money'
import { rfc3339 } from '@svc/kernel/time'
import { Type } from 'typebox'
import { choiceFilter, type Resource } from '../http/resource.ts'

/** Files of banks as they were recorded; operators alone read them. */
export const bankFile = {
  titles: { operator: 'BankFile' },
  from: { columns: bankFiles.columns, table: 'bank_files f', alias: 'f' },
  tenant: 'f.tenant_id',
  keys: [
    { sql: 'f.recorded_at', type: 'timestamptz' },
    { sql: 'f.bank_file_id', type: 'text' },
  ],
  fields: {
    bankFileId: { schema: Type.String(), of: ({ bankFileId }) => bankFileId },
    kind: { schema: Type.Enum([...BANK_FILE_KINDS]), of: ({ kind }) => kind },
    name: { schema: Type.String({ description: 'As the person had it' }), of: ({ name }) => name },
    sha256: { schema: Type.String({ description: 'Of its bytes, in hex' }), of: ({ sha256 }) => sha256 },
    lines: { schema: Type.Integer(), of: ({ lines }) => lines },
    unfitting: {
      schema: Type.Integer({ description: 'Lines that did not fit when it was recorded' }),
      of: ({ unfitting }) => unfitting,
    },
    amount: {
      schema: Type.Optional(
        Type.String({
          description: 'Rupees with two decimals: the net of transfers, or how a statement closes',
        }),
      ),
      of: ({ amountPaise }) => (amountPaise === null ? undefined : formatRupees(amountPaise)),
    },
    recordedBy: { schema: Type.String(), of: ({ recordedBy }) => recordedBy },
    recordedOn: { schema: Type.String(), of: ({ recordedAt }, timeZone) => rfc3339(recordedAt, timeZone) },
  },
  filters: { kind: { schema: choiceFilter(BANK_FILE_KINDS), sql: 'f.kind = ?' } },
} satisfies Resource<KeptFile>
