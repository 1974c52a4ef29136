import { Button } from '@mantine/core'
import { apiAt } from '../api.ts'
import { DownloadIcon } from './icons.tsx'

interface DownloadProps {
  /** After the base of the service's own address. */
  readonly href: string
  readonly name: string
  readonly size?: 'sm'
  readonly children: string
}

/** A file that the service makes; the session's cookie goes with the request. */
export const Download = ({ href, name, size, children }: DownloadProps) => (
  <Button
    component="a"
    href={`${apiAt}${href}`}
    download={name}
    variant="default"
    size={size ?? 'compact-sm'}
    leftSection={<DownloadIcon />}
  >
    {children}
  </Button>
)
