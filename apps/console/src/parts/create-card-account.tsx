import { NumberInput, Select, TextInput } from '@mantine/core'
import type { Schemas } from '../api.ts'
import type { FormKey } from '../form-key.ts'
import { ACCOUNT_TYPES, PRODUCTS } from '../words.ts'
import { CompanyField, type OfCompany } from './company-field.tsx'
import { FormDialog, needed } from './form-dialog.tsx'

const INITIAL = {
  product: 'incentive' as Schemas['CardAccount']['product'],
  accountType: 'GIFT' as Schemas['CardAccount']['accountType'],
  binType: 'GIFT',
  cardProgramme: '',
}

interface CreateCardAccountProps extends OfCompany {
  readonly create: (
    account: typeof INITIAL & { readonly companyId: string; readonly denomination: number },
    key: FormKey,
  ) => Promise<unknown>
}

/** A form for a new card account; of this company, or of one to be chosen. */
export function CreateCardAccount({ companyId = '', companies, create }: CreateCardAccountProps) {
  return (
    <FormDialog
      label="Create card account"
      send="Create"
      variant={companyId ? 'default' : 'filled'}
      initial={{ ...INITIAL, companyId, denomination: 500 as number | string }}
      rules={{
        companyId: needed,
        cardProgramme: needed,
        binType: (value: string) =>
          /^[A-Z][A-Z_]{0,39}$/.test(value) ? null : 'Capital letters and underscores, 40 at most',
        denomination: (value: number | string) => (Number(value) >= 1 ? null : 'At least one rupee'),
      }}
      fields={(form) => (
        <>
          {!companyId && <CompanyField companies={companies} {...form.getInputProps('companyId')} />}
          <TextInput
            label="Programme"
            description="Name of the card programme"
            {...form.getInputProps('cardProgramme')}
          />
          <Select
            label="Product"
            data={[...PRODUCTS]}
            allowDeselect={false}
            {...form.getInputProps('product')}
          />
          <Select
            label="Account type"
            data={[...ACCOUNT_TYPES]}
            allowDeselect={false}
            {...form.getInputProps('accountType')}
          />
          <TextInput
            label="BIN type"
            description="Such as GIFT or REWARD"
            {...form.getInputProps('binType')}
          />
          <NumberInput
            label="Load by default"
            description="Whole rupees on a card when the order names no amount"
            prefix="₹ "
            thousandsGroupStyle="lakh"
            thousandSeparator=","
            allowDecimal={false}
            allowNegative={false}
            {...form.getInputProps('denomination')}
          />
        </>
      )}
      submit={({ denomination, ...others }, key) =>
        create({ ...others, denomination: Number(denomination) }, key)
      }
    />
  )
}
