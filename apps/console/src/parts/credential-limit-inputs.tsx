import { MultiSelect, Textarea } from '@mantine/core'
import type { LimitInputsProps } from './credential-limits.tsx'

/** Fields of a form that issues or limits a credential. */
export function LimitInputs({ form, scopes }: LimitInputsProps) {
  return (
    <>
      <Textarea
        label="Addresses"
        description="IP addresses and networks, one a line, such as 203.0.113.0/24; empty: from everywhere"
        autosize
        minRows={2}
        maxRows={10}
        autoComplete="off"
        spellCheck={false}
        {...form.getInputProps('addresses')}
      />
      <MultiSelect
        label="Scopes"
        description="What programs may do with it; empty: everything"
        data={[...scopes]}
        searchable
        clearable
        clearButtonProps={{ 'aria-label': 'Clear Scopes' }}
        nothingFoundMessage="No scope found"
        {...form.getInputProps('scopes')}
      />
    </>
  )
}
