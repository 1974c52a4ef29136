import { Select, type SelectProps } from '@mantine/core'
import { Picker } from './picker.tsx'

export interface Choice {
  readonly value: string
  readonly label: string
}

/** Whose what a form makes is to be: of this company, or of one that is chosen. */
export interface OfCompany {
  readonly companyId?: string
  /** All that there are to choose from; the service is searched where it is left out. */
  readonly companies?: readonly Choice[] | undefined
}

export const CompanyField = ({
  companies,
  ...input
}: Pick<OfCompany, 'companies'> & Omit<SelectProps, 'label'>) =>
  companies ? (
    <Select label="Company" data={[...companies]} searchable {...input} />
  ) : (
    <Picker of="company" {...input} />
  )
