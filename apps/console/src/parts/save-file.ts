/** Gives what is at an address of the service to the person, as a download. */
export function saveAddress(href: string, name: string): void {
  const link = document.createElement('a')
  link.href = href
  link.download = name
  link.click()
}

/** The same of a file that the page made. */
export function saveFile(file: Blob, name: string): void {
  const href = URL.createObjectURL(file)
  saveAddress(href, name)
  URL.revokeObjectURL(href)
}
